//! Adds a memory.

use memod_engine::clock::local;
use memod_engine::errors::RpcResult;
use memod_memory::{fields, id, time};
use memod_memory_db::{Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{AddParams, AddResult};
use serde_json::Value;

use super::about::{resolve_into, united};
use super::file_write::share;
use super::keeper::derive;
use super::merge::merge_into;
use super::near::{Near, refuse_same};
use super::rules::{Done, bad};
use super::show;
use super::stamp::Stamp;
use super::transaction::Call;

/// Adds a memory, unless another one has the same text.
pub(super) async fn add(call: &Call<'_>) -> RpcResult<Value> {
    let near = Near::of_daemon(call.shared);
    call.write_found(params(call), move |rows, params, stamp| put(rows, params, stamp, &near)).await
}

async fn params(call: &Call<'_>) -> RpcResult<AddParams> {
    let mut params: AddParams = call.params()?;
    resolve_into(&mut params.anchors, &params.about, call).await?;
    Ok(params)
}

fn put(rows: &Rows<'_>, params: &AddParams, stamp: &Stamp, near: &Near) -> Done<AddResult> {
    let (record, redacted) = new_record(rows, params, stamp)?;
    let derived = derive(&record);
    let result = |record: Record| {
        let memory = show::memory(record, stamp.now_ms);
        AddResult { redacted, memory, ..AddResult::default() }
    };
    let is_asked = !params.fields.allow_secret;
    let warning = is_asked.then(|| fields::warn_of_credential("content", &record.content)).flatten();
    if let Some(known) = rows.same_text(&record, &derived.hash)? {
        return Ok(result(known));
    }
    let (same, contradicted) = near.compare(rows, &record)?;
    match same.first().filter(|_| !params.force) {
        Some((other, _)) if params.merge => {
            let merged = merge_into(rows, other, &[record], stamp)?;
            return Ok(AddResult { merged: true, contradicted, warning, ..result(merged) });
        }
        Some((other, cosine)) if near.is_refused => return Err(refuse_same(other, *cosine)),
        _ => {}
    }
    let notice = rows.same_text_elsewhere(&record, &derived.hash)?.map(|id| {
        format!("{id} says the same in a file that this worktree does not have; `memo dedupe` joins the two once it has")
    });
    rows.put(&record, &derived, &stamp.event("add"))?;
    let record = if stamp.shares.shares(&record) { share(rows, &record, stamp)? } else { record };
    let caveats = Caveats::of_notice(notice);
    Ok(AddResult { created: true, contradicted, warning, caveats, ..result(record) })
}

/// Returns the record to store, and the number of private parts that were removed.
fn new_record(rows: &Rows<'_>, params: &AddParams, stamp: &Stamp) -> Done<(Record, usize)> {
    let content = fields::validate_content(&params.content, params.fields.allow_secret).map_err(bad)?;
    let title =
        params.fields.title.as_deref().map(|title| fields::validate_title(title, params.fields.allow_secret));
    let title = title.transpose().map_err(bad)?.flatten();
    let tier = params.fields.tier.unwrap_or_default();
    let expires_at = match &params.fields.ttl {
        Some(ttl) => Some(time::parse_expiry(ttl, &local(stamp.now_ms)).map_err(bad)?),
        None => stamp.tiers.expiry_in(tier, stamp.now_ms),
    };
    let redacted = content.redacted + title.as_ref().map_or(0, |title| title.redacted);
    let record = Record {
        id: id::new_id(stamp.now_ms, rows.random()?),
        content: content.text,
        title: title.map(|title| title.text),
        container: stamp.container(params.fields.container.as_deref()).map_err(bad)?,
        tags: fields::validate_tags(&params.tags).map_err(bad)?,
        anchors: united(&[], &[], &params.anchors, &params.caller.cwd, &stamp.layout)?,
        tier,
        expires_at,
        priority: params
            .fields
            .priority
            .map_or(Ok(fields::DEFAULT_PRIORITY), fields::validate_priority)
            .map_err(bad)?,
        confidence: params.fields.confidence.map_or(Ok(1.0), fields::validate_confidence).map_err(bad)?,
        metadata: fields::validate_metadata(params.fields.metadata.clone(), params.fields.allow_secret)
            .map_err(bad)?,
        source: params
            .source
            .as_deref()
            .map_or(Ok(stamp.source.to_owned()), fields::validate_source)
            .map_err(bad)?,
        author: stamp.author.clone(),
        agent: stamp.agent.clone(),
        created: stamp.now_ms,
        updated: stamp.now_ms,
        ..Record::default()
    };
    Ok((record, redacted))
}
