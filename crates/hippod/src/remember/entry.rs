//! Text of a structured log entry.
//!
//! The fields are request, analysis, decision, outcome, feedback and references.

use hippo_proto::RememberRequest;
use hippo_redact::without_secrets;
use hippo_text::section::topic_of;

use super::one_line;

/// Returns the request with its fields merged into its text: a list of the fields, followed by the free text. If the
/// topic is missing, it is derived from the free text or, without free text, from the first field.
pub fn structured(request: RememberRequest) -> RememberRequest {
    let RememberRequest {
        request: asked,
        analysis,
        decision,
        outcome,
        feedback,
        references,
        text,
        ..
    } = &request;
    let fields = [
        ("request", asked),
        ("analysis", analysis),
        ("decision", decision),
        ("outcome", outcome),
        ("user feedback", feedback),
        ("references", references),
    ];
    let mut list = String::new();
    for (name, said) in fields {
        if let Some(said) = said {
            list.push_str(&format!("- {name}: {}\n", one_line(said)));
        }
    }
    if list.is_empty() {
        return request;
    }
    let first = fields.iter().find_map(|(_, said)| said.as_deref());
    let about = Some(text.as_str())
        .filter(|text| !text.trim().is_empty())
        .or(first);
    let topic = about.map(|about| topic_of(&without_secrets(about)));
    if !text.trim().is_empty() {
        list.push('\n');
        list.push_str(text.trim());
    }
    RememberRequest {
        workspace: request.workspace,
        text: list,
        topic: request.topic.or(topic.filter(|topic| !topic.is_empty())),
        type_: request.type_,
        tags: request.tags,
        priority: request.priority,
        ..RememberRequest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_a_list_and_plain_text_is_unchanged() {
        let plain = RememberRequest {
            text: "  as it is\n".into(),
            topic: Some("T".into()),
            ..RememberRequest::default()
        };
        assert_eq!(structured(plain.clone()), plain);
        let fields = RememberRequest {
            decision: Some("use\nPostgres".into()),
            feedback: Some("fine".into()),
            ..plain
        };
        let made = structured(fields);
        assert_eq!(
            made.text,
            "- decision: use Postgres\n- user feedback: fine\n\nas it is"
        );
        assert_eq!((made.topic.as_deref(), &made.decision), (Some("T"), &None));
    }

    #[test]
    fn a_missing_topic_is_derived_from_the_text() {
        let fields = RememberRequest {
            analysis: Some("It hangs. The relay is slow".into()),
            decision: Some("-5 degrees, then a pause".into()),
            ..RememberRequest::default()
        };
        let topic = |request: RememberRequest| structured(request).topic;
        assert_eq!(topic(fields.clone()).as_deref(), Some("It hangs"));
        let besides = RememberRequest {
            text: "The pump of the greenhouse. And more".into(),
            ..fields.clone()
        };
        assert_eq!(topic(besides).as_deref(), Some("The pump of the greenhouse"));
        let secret = RememberRequest {
            analysis: Some("password: hunter2".into()),
            ..fields
        };
        assert!(topic(secret).is_none_or(|topic| !topic.contains("hunter2")));
    }
}
