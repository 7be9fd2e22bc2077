//! Resources.

use super::{
    Component, QUERY_KEY, Stands, given, moment, only_page, private, stands, static_list,
    with_backend,
};
use crate::bindings::exports::personal_memory::mcp::resources;
use crate::bindings::exports::personal_memory::mcp::types::{
    Annotations, Error, RequestContext, ResourceBody, ResourceContents, ResourceInfo, Resumption,
};
use crate::resources::{MIME_TYPE, TEMPLATES};
use crate::store::event::rfc3339;

impl resources::Guest for Component {
    fn list(_: RequestContext, cursor: Option<String>) -> Result<resources::ResourcePage, Error> {
        let page = with_backend(|backend| crate::resources::list(backend, cursor.as_deref()))?;
        Ok(resources::ResourcePage {
            resources: page.resources.into_iter().map(resource).collect(),
            next_cursor: page.next_cursor,
            cache: private(),
        })
    }

    fn list_templates(
        _: RequestContext,
        cursor: Option<String>,
    ) -> Result<resources::TemplatePage, Error> {
        only_page(cursor)?;
        let templates = TEMPLATES
            .iter()
            .map(|template| resources::ResourceTemplate {
                uri_template: template.uri_template.to_owned(),
                name: template.name.to_owned(),
                title: Some(template.title.to_owned()),
                description: Some(template.description.to_owned()),
                mime_type: Some(MIME_TYPE.to_owned()),
                annotations: None,
                icons: Vec::new(),
                meta: None,
            });
        Ok(resources::TemplatePage {
            templates: templates.collect(),
            next_cursor: None,
            cache: static_list(),
        })
    }

    fn read(
        context: RequestContext,
        uri: String,
        resume: Option<Resumption>,
    ) -> Result<resources::ReadOutcome, Error> {
        let moment = moment(&context).with_answer(given(resume, QUERY_KEY));
        let outcome = with_backend(|backend| crate::resources::read(&uri, backend, &moment));
        let contents = match stands(outcome)? {
            Stands::Answered(contents) => contents,
            Stands::Needs(pending) => return Ok(resources::ReadOutcome::Needs(pending)),
        };
        let body = ResourceBody::Text(contents.text);
        let contents = vec![ResourceContents {
            uri,
            mime_type: Some(MIME_TYPE.to_owned()),
            body,
            meta: None,
        }];
        Ok(resources::ReadOutcome::Complete(resources::ReadResult {
            contents,
            cache: private(),
            meta: None,
        }))
    }
}

fn resource(descriptor: crate::resources::Descriptor) -> ResourceInfo {
    ResourceInfo {
        uri: descriptor.uri,
        name: descriptor.name,
        title: Some(descriptor.title),
        description: Some(descriptor.description.to_string()),
        mime_type: Some(MIME_TYPE.to_owned()),
        size: Some(descriptor.size),
        annotations: Some(Annotations {
            audience: Vec::new(),
            priority: None,
            last_modified: Some(rfc3339(descriptor.last_modified)),
        }),
        icons: Vec::new(),
        meta: None,
    }
}
