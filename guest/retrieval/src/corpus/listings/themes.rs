//! What listings are made of.
//!
//! A theme has sentences for listings and wordings for queries. The first wording shares words with the sentences, the
//! second hardly any: it is for a retriever that understands more than words.

/// A subject that a listing's text may have.
pub(super) struct Theme {
    pub(super) sentences: &'static [&'static str],
    pub(super) queries: &'static [&'static str],
}

/// A kind of home, and how many bedrooms it has (from, to).
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) bedrooms: (u64, u64),
}

/// Kinds of homes.
pub(super) const KINDS: &[Kind] = &[
    Kind {
        name: "studio",
        bedrooms: (1, 1),
    },
    Kind {
        name: "flat",
        bedrooms: (1, 4),
    },
    Kind {
        name: "terraced house",
        bedrooms: (2, 4),
    },
    Kind {
        name: "detached house",
        bedrooms: (3, 6),
    },
    Kind {
        name: "bungalow",
        bedrooms: (2, 4),
    },
    Kind {
        name: "cottage",
        bedrooms: (1, 3),
    },
];

/// Places that don't exist, and what a square metre costs there.
pub(super) const CITIES: &[(&str, u64)] = &[
    ("Marlow Quay", 4100),
    ("Easterby", 2300),
    ("Port Callan", 3200),
    ("Holmsted", 1900),
    ("Veyra", 5200),
    ("Upper Lisk", 1700),
    ("Tarnmouth", 2600),
    ("Calder Heath", 2900),
    ("Orsholm", 3700),
    ("Wychford", 2100),
];

/// What a listing can have in its field, and never in its text.
pub(super) const FEATURES: &[&str] = &[
    "lift",
    "parking",
    "solar panels",
    "cellar",
    "furnished",
    "pets allowed",
    "step-free",
    "double glazing",
    "heat pump",
    "air conditioning",
];

/// Sentences that say nothing, so that texts have a length and words in common.
pub(super) const NEUTRAL: &[&str] = &[
    "Viewings can be arranged at short notice.",
    "The home is offered by the present owners.",
    "All measurements were taken by the agent.",
    "The rooms are in good order and ready to move into.",
    "Ask the agent for the floor plan and further details.",
    "The property was last decorated a few years ago.",
    "It is sold without an onward chain.",
    "Offers are invited from private buyers.",
];

/// All themes.
pub(super) const THEMES: &[Theme] = &[
    Theme {
        sentences: &[
            "A large workshop with a solid bench and racks for tools stands behind it.",
            "The outbuilding is a fully equipped woodworking workshop.",
            "There is a dry workshop with three-phase power and a lathe.",
        ],
        queries: &[
            "a workshop with a bench for tools",
            "space for a carpenter to make furniture",
        ],
    },
    Theme {
        sentences: &[
            "From the living room you look straight over the harbour and its fishing boats.",
            "Big windows face the harbour, where boats come and go.",
            "The harbour lies below the windows.",
        ],
        queries: &[
            "windows with a view of the harbour",
            "watching ships from the sofa",
        ],
    },
    Theme {
        sentences: &[
            "An old orchard with apple, pear and plum trees belongs to it.",
            "Behind it is an orchard that bears apples every autumn.",
            "Fruit trees fill the plot: apples, cherries and quinces.",
        ],
        queries: &["an orchard with apple trees", "growing my own fruit"],
    },
    Theme {
        sentences: &[
            "The primary school is at the end of the street, and children walk there alone.",
            "A school and a nursery are two minutes away on foot.",
            "Two well-regarded schools are within walking distance.",
        ],
        queries: &[
            "school within walking distance",
            "good for families with young kids who start classes",
        ],
    },
    Theme {
        sentences: &[
            "A soundproof room was built for band rehearsals.",
            "The cellar holds a recording studio with a soundproof booth.",
            "One room is acoustically treated, made for practising the drums.",
        ],
        queries: &[
            "soundproof room for band rehearsals",
            "a musician who must not disturb the neighbours",
        ],
    },
    Theme {
        sentences: &[
            "A tiled stove warms the whole ground floor in winter.",
            "The wood-burning stove in the sitting room is the heart of it.",
            "An open hearth and a stack of dry logs wait for the cold months.",
        ],
        queries: &[
            "wood-burning stove in the sitting room",
            "sitting by a crackling fire on winter evenings",
        ],
    },
    Theme {
        sentences: &[
            "The station is four minutes away, with a train to the capital every half hour.",
            "Trains stop around the corner; commuters reach the centre in twenty minutes.",
            "The railway station can be reached on foot.",
        ],
        queries: &[
            "near the railway station with trains to the centre",
            "an easy commute without a car",
        ],
    },
    Theme {
        sentences: &[
            "A heated swimming pool lies sheltered behind hedges.",
            "The indoor pool can be used all year round.",
            "There is a swimming pool with a counter-current unit.",
        ],
        queries: &["a heated swimming pool", "doing laps before breakfast"],
    },
    Theme {
        sentences: &[
            "Stables for two horses and a paddock complete the plot.",
            "A paddock with a field shelter is ready for ponies.",
            "The stable block has a tack room and a hay loft.",
        ],
        queries: &["stables and a paddock for horses", "keeping a pony at home"],
    },
    Theme {
        sentences: &[
            "The library has shelves of oak up to the ceiling.",
            "Built-in bookcases line a whole wall of the study.",
            "A reading room with thousands of volumes' worth of shelves awaits.",
        ],
        queries: &[
            "a library with bookcases to the ceiling",
            "a home for a large collection of novels",
        ],
    },
    Theme {
        sentences: &[
            "The beach is at the end of the lane.",
            "Sand dunes begin behind the fence, and you hear the surf at night.",
            "A path leads down to a quiet sandy beach.",
        ],
        queries: &[
            "close to a sandy beach",
            "falling asleep to the sound of the waves",
        ],
    },
    Theme {
        sentences: &[
            "The kitchen was designed for a professional cook, with a gas range and steel worktops.",
            "A chef's kitchen with two ovens and a walk-in pantry is its pride.",
            "The generous kitchen has an island, a gas range and a pantry.",
        ],
        queries: &[
            "a kitchen with a gas range and a pantry",
            "cooking for big dinner parties",
        ],
    },
    Theme {
        sentences: &[
            "A glazed conservatory full of light opens to the south.",
            "The winter garden is a favourite place of tropical plants.",
            "Under the glass roof of the conservatory oranges ripen.",
        ],
        queries: &[
            "a conservatory with a glass roof",
            "somewhere for my tropical plants to live indoors",
        ],
    },
    Theme {
        sentences: &[
            "A separate office with a door of its own suits people who work from home.",
            "The garden office has fibre internet and a desk for two.",
            "Fibre internet reaches the quiet office on the upper floor.",
        ],
        queries: &[
            "an office with fibre internet to work from home",
            "remote employee with many video calls",
        ],
    },
    Theme {
        sentences: &[
            "The roof terrace overlooks the whole town.",
            "Stairs lead to a roof terrace with room for a long table.",
            "A private terrace on the roof catches the evening sun.",
        ],
        queries: &[
            "a roof terrace with evening sun",
            "eating outdoors high above the streets",
        ],
    },
    Theme {
        sentences: &[
            "It is a listed building of 1780 with its original beams.",
            "Original beams and mouldings of the eighteenth century were preserved.",
            "The listed facade and the oak staircase date from 1750.",
        ],
        queries: &[
            "listed building with original beams",
            "a place with history and old character",
        ],
    },
    Theme {
        sentences: &[
            "An observatory dome with a pier for a telescope crowns it.",
            "There is no street light for miles, and the telescope platform is used every clear night.",
            "The previous owner, an astronomer, left a platform for telescopes.",
        ],
        queries: &["a platform for a telescope", "stargazing under a dark sky"],
    },
    Theme {
        sentences: &[
            "A granny annexe with its own entrance is part of it.",
            "The separate annexe has a kitchenette and a bathroom, ideal for relatives.",
            "Guests or grandparents live in an annexe of their own.",
        ],
        queries: &[
            "an annexe with its own entrance",
            "my elderly mother could move in with us",
        ],
    },
    Theme {
        sentences: &[
            "The sauna and a cold plunge tub were added lately.",
            "A Finnish sauna stands in the basement.",
            "After a day outdoors the sauna with its rest room awaits.",
        ],
        queries: &[
            "a Finnish sauna with a plunge tub",
            "sweating and relaxing after exercise",
        ],
    },
    Theme {
        sentences: &[
            "A mooring for a sailing boat of ten metres belongs to it.",
            "The private jetty gives deep water at all tides.",
            "A boathouse with a slipway is included.",
        ],
        queries: &[
            "a mooring or jetty for a sailing boat",
            "keeping my yacht at home",
        ],
    },
    Theme {
        sentences: &[
            "The vegetable plot has raised beds, a greenhouse and three rainwater butts.",
            "A greenhouse and raised beds supply vegetables for a family.",
            "Raised beds and a compost yard show a keen vegetable grower.",
        ],
        queries: &[
            "greenhouse and raised beds for vegetables",
            "feeding ourselves from the garden",
        ],
    },
    Theme {
        sentences: &[
            "The double garage has an inspection pit and a car lift.",
            "A garage for four cars comes with a pit and compressed air.",
            "The heated garage has an inspection pit.",
        ],
        queries: &[
            "a garage with an inspection pit",
            "restoring a vintage automobile at the weekend",
        ],
    },
    Theme {
        sentences: &[
            "Forest begins at the gate, with marked trails for walks of any length.",
            "Woods surround it on three sides.",
            "Footpaths lead from the door straight into the forest.",
        ],
        queries: &[
            "trails into the forest from the door",
            "long hikes among trees with the dog",
        ],
    },
    Theme {
        sentences: &[
            "A studio with north light was used by a painter.",
            "The painter's studio has tall north-facing windows.",
            "North light falls into the high studio, where canvases still lean.",
        ],
        queries: &[
            "a painter's studio with north light",
            "an artist looking for a place to make pictures",
        ],
    },
    Theme {
        sentences: &[
            "The gym in the basement has mirrors, weights and a rowing machine.",
            "A fitness room with weights and a treadmill takes up the lower floor.",
            "Weights, mats and mirrors: the gym stays.",
        ],
        queries: &[
            "a gym with weights and a treadmill",
            "working out without a membership",
        ],
    },
    Theme {
        sentences: &[
            "A home cinema with eight seats and a projector is installed.",
            "The projector and the screen of the cinema room are included.",
            "Films are shown in a dark cinema room with tiered seats.",
        ],
        queries: &[
            "a cinema room with a projector",
            "movie nights with friends",
        ],
    },
    Theme {
        sentences: &[
            "The vaulted wine cellar keeps two thousand bottles at twelve degrees.",
            "A wine cellar with stone racks lies beneath the hall.",
            "Bottles mature in the cool vaulted cellar.",
        ],
        queries: &[
            "a vaulted wine cellar for bottles",
            "a collector of Burgundy and Bordeaux",
        ],
    },
    Theme {
        sentences: &[
            "A brook crosses the meadow and feeds a pond with carp.",
            "The pond at the end of the lawn is home to carp and frogs.",
            "A stream with trout forms the boundary.",
        ],
        queries: &["a pond or stream with fish", "going fishing on my own land"],
    },
    Theme {
        sentences: &[
            "The market square with its cafes and bakeries is around the corner.",
            "Cafes, bakeries and a weekly market are next door.",
            "You fetch fresh bread in your slippers: the bakery is in the same street.",
        ],
        queries: &[
            "cafes and a bakery around the corner",
            "lively area with shops and restaurants",
        ],
    },
    Theme {
        sentences: &[
            "It stands alone at the end of a track, without a neighbour in sight.",
            "No neighbour is in sight, only fields.",
            "The next house is a kilometre away across the fields.",
        ],
        queries: &[
            "standing alone without a neighbour in sight",
            "peace and solitude far from everybody",
        ],
    },
    Theme {
        sentences: &[
            "Ski lifts start two hundred metres from the door.",
            "Skis can be put on at the door, and the boot room is heated.",
            "The slopes are across the road; there is a heated ski room.",
        ],
        queries: &[
            "ski lifts close to the door",
            "a winter sports holiday every weekend",
        ],
    },
    Theme {
        sentences: &[
            "The pottery shed has a kiln and two wheels.",
            "A kiln for ceramics stands in the shed.",
            "Wheels, glazes and a kiln come with the pottery.",
        ],
        queries: &[
            "a kiln and wheels for pottery",
            "firing clay bowls and mugs",
        ],
    },
];
