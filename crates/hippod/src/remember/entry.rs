//! How is a structured entry of the daily log written: request, analysis, decision, outcome, feedback, references?

use hippo_proto::RememberRequest;

use super::one_line;

/// The request with its fields in its text: a list of them, and below it what was said besides.
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
    if !text.trim().is_empty() {
        list.push('\n');
        list.push_str(text.trim());
    }
    RememberRequest {
        workspace: request.workspace,
        text: list,
        topic: request.topic,
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
    fn fields_are_a_list_and_a_text_alone_stays_as_it_is() {
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
}
