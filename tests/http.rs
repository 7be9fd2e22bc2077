//! Streamable HTTP, over real sockets: who is let in, what is answered with which status, both eras, and how it ends.

/// Names, origins, tokens, addresses.
mod guard;

/// What holds for every message, whatever its era: media types, sizes, methods of HTTP.
mod messages;

/// One request, one response: headers, statuses, streams, cancellation by closing.
mod modern;

/// Sessions, and streams to which a client can come back.
mod legacy;

/// Components that ask the client.
mod asking;

/// Many clients, slow ones, and how it ends.
mod many;
