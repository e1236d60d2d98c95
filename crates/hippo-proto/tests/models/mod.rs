//! Requests about models and their wire format.

use hippo_proto::{
    ModelImportRequest, ModelListRequest, ModelPullRequest, ModelRemoveRequest, ModelVerifyRequest, Request,
};

pub fn requests() -> Vec<(&'static str, Request)> {
    let model = || Some("m".to_owned());
    vec![
        ("{}", ModelListRequest {}.into()),
        (
            r#"{"model":"m","from":"/f"}"#,
            ModelPullRequest {
                model: model(),
                from: Some("/f".into()),
            }
            .into(),
        ),
        (r#"{"model":"m"}"#, ModelVerifyRequest { model: model() }.into()),
        (
            r#"{"from":"/wheels","model":"m"}"#,
            ModelImportRequest {
                from: "/wheels".into(),
                model: model(),
                ..ModelImportRequest::default()
            }
            .into(),
        ),
        (
            r#"{"from":"/e5","name":"e5","query_prefix":"query: ","passage_prefix":"passage: "}"#,
            ModelImportRequest {
                from: "/e5".into(),
                model: None,
                name: Some("e5".into()),
                query_prefix: Some("query: ".into()),
                passage_prefix: Some("passage: ".into()),
            }
            .into(),
        ),
        (
            r#"{"model":"e5"}"#,
            ModelRemoveRequest { model: "e5".into() }.into(),
        ),
    ]
}
