//! Adds a memory.

use memod_base::clock::to_local_time;
use memod_engine::errors::RpcResult;
use memod_memory::{fields, id, time};
use memod_memory_db::{MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{AddParams, AddResult};
use serde_json::Value;

use super::merge_memories::merge_into;
use crate::daemon::memories::about_code::target_anchors::{replace_with_target_anchors, unite_anchors};
use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::finding::near_memories::{NearFinder, near_duplicate_error};
use crate::daemon::memories::memory_files::plan_files::share_as_file;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{JobResult, field_error};
use crate::daemon::memories::rules::protocol_values;
use crate::daemon::memories::rules::record_functions::derive_data;

/// Answers `memory.add`: adds a memory, unless the container already has a memory with the same text.
pub(in crate::daemon::memories) async fn add_memory(call: &MethodCall<'_>) -> RpcResult<Value> {
    let near = NearFinder::from_shared(&call.request.shared);
    call.write_with_found(resolve_params(call), move |rows, params, stamp| {
        add_record(rows, params, stamp, &near)
    })
    .await
}

async fn resolve_params(call: &MethodCall<'_>) -> RpcResult<AddParams> {
    let mut params: AddParams = call.parse_params()?;
    replace_with_target_anchors(&mut params.anchors, &params.about, call).await?;
    Ok(params)
}

fn add_record(
    rows: &MemoryRows<'_>,
    params: &AddParams,
    stamp: &ChangeStamp,
    near: &NearFinder,
) -> JobResult<AddResult> {
    let (record, redacted) = new_record(rows, params, stamp)?;
    let derived = derive_data(&record);
    let is_asked = !params.fields.allow_secret;
    let warning = is_asked.then(|| fields::warn_of_credential("content", &record.content)).flatten();
    if let Some(known) = rows.records().find_memory_with_text(&record, &derived.hash)? {
        return Ok(build_result(known, redacted, stamp));
    }
    let (same, contradicted) = near.compare_record(rows, &record)?;
    match same.first().filter(|_| !params.force) {
        Some((other, _)) if params.merge => {
            let merged = merge_into(rows, other, &[record], stamp)?;
            return Ok(AddResult {
                merged: true,
                contradicted,
                warning,
                ..build_result(merged, redacted, stamp)
            });
        }
        Some((other, cosine)) if near.refuses_near => return Err(near_duplicate_error(other, *cosine)),
        _ => {}
    }
    let notice = rows.records().find_same_text_elsewhere(&record, &derived.hash)?.map(|id| {
        format!("{id} has the same text, in a file that this worktree lacks; `memo dedupe` merges the two once the file is here")
    });
    rows.put_memory(&record, &derived, &stamp.new_event("add"))?;
    let record =
        if stamp.share_rules.shares_record(&record) { share_as_file(rows, &record, stamp)? } else { record };
    let caveats = Caveats::from_notice(notice);
    Ok(AddResult { created: true, contradicted, warning, caveats, ..build_result(record, redacted, stamp) })
}

fn build_result(record: MemoryRecord, redacted: usize, stamp: &ChangeStamp) -> AddResult {
    AddResult { redacted, memory: protocol_values::to_memory(record, stamp.now_ms), ..AddResult::default() }
}

/// Returns the record of the new memory, and the number of private parts that were removed from its texts.
fn new_record(
    rows: &MemoryRows<'_>,
    params: &AddParams,
    stamp: &ChangeStamp,
) -> JobResult<(MemoryRecord, usize)> {
    let content =
        fields::validate_content(&params.content, params.fields.allow_secret).map_err(field_error)?;
    let title =
        params.fields.title.as_deref().map(|title| fields::validate_title(title, params.fields.allow_secret));
    let title = title.transpose().map_err(field_error)?.flatten();
    let tier = params.fields.tier.unwrap_or_default();
    let expires_at = match &params.fields.ttl {
        Some(ttl) => time::parse_expiry(ttl, &to_local_time(stamp.now_ms)).map_err(field_error)?,
        None => stamp.tiers.expiry_in(tier, stamp.now_ms),
    };
    let redacted = content.n_redacted + title.as_ref().map_or(0, |title| title.n_redacted);
    let record = MemoryRecord {
        id: id::new_id(stamp.now_ms, rows.random_bytes()?),
        content: content.text,
        title: title.map(|title| title.text),
        container: stamp.choose_container(params.fields.container.as_deref()).map_err(field_error)?,
        tags: fields::validate_tags(&params.tags).map_err(field_error)?,
        anchors: unite_anchors(&[], &[], &params.anchors, &params.caller.cwd, &stamp.layout)?,
        tier,
        expires_at,
        priority: params
            .fields
            .priority
            .map_or(Ok(fields::DEFAULT_PRIORITY), fields::validate_priority)
            .map_err(field_error)?,
        confidence: params
            .fields
            .confidence
            .map_or(Ok(1.0), fields::validate_confidence)
            .map_err(field_error)?,
        metadata: fields::validate_metadata(params.fields.metadata.clone(), params.fields.allow_secret)
            .map_err(field_error)?,
        source: params
            .source
            .as_deref()
            .map_or(Ok(stamp.source.to_owned()), fields::validate_source)
            .map_err(field_error)?,
        author: stamp.author.clone(),
        agent: stamp.agent.clone(),
        created: stamp.now_ms,
        updated: stamp.now_ms,
        ..MemoryRecord::default()
    };
    Ok((record, redacted))
}
