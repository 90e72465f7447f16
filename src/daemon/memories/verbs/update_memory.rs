//! Changes the fields of a memory.

use memod_base::clock::to_local_time;
use memod_engine::errors::RpcResult;
use memod_memory::fields::StorableText;
use memod_memory::{fields, time};
use memod_memory_db::{MemoryRecord, MemoryRows};
use memod_proto::Caveats;
use memod_proto::memory::{UpdateParams, UpdateResult};
use serde_json::{Map, Value};

use crate::daemon::memories::about_code::target_anchors::{replace_with_target_anchors, unite_anchors};
use crate::daemon::memories::calls::method_call::MethodCall;
use crate::daemon::memories::rules::change_stamp::ChangeStamp;
use crate::daemon::memories::rules::memory_rules::{
    JobResult, check_unique_text, field_error, find_living, has_changed_text, refused_error,
};
use crate::daemon::memories::rules::protocol_values;

/// Answers `memory.update`: changes a memory. Absent fields keep their values.
pub(in crate::daemon::memories) async fn update_memory(call: &MethodCall<'_>) -> RpcResult<Value> {
    call.write_with_found(resolve_params(call), store_update).await
}

async fn resolve_params(call: &MethodCall<'_>) -> RpcResult<UpdateParams> {
    let mut params: UpdateParams = call.parse_params()?;
    replace_with_target_anchors(&mut params.anchors, &params.add_about, call).await?;
    Ok(params)
}

fn store_update(
    rows: &MemoryRows<'_>,
    params: &UpdateParams,
    stamp: &ChangeStamp,
) -> JobResult<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    let (after, redacted) = change_record(&before, params, stamp)?;
    if after.content != before.content || after.container != before.container {
        check_unique_text(rows, &after)?;
    }
    let (after, changed) = stamp.store_if_changed(rows, "update", &before, after)?;
    let is_asked = after.content != before.content && !params.fields.allow_secret;
    let warning = is_asked.then(|| fields::warn_of_credential("content", &after.content)).flatten();
    let memory = protocol_values::to_memory(after, stamp.now_ms);
    Ok(UpdateResult { changed, redacted, warning, memory, caveats: Caveats::default() })
}

/// Returns the changed memory, and the number of private parts that were removed from new texts.
fn change_record(
    before: &MemoryRecord,
    params: &UpdateParams,
    stamp: &ChangeStamp,
) -> JobResult<(MemoryRecord, usize)> {
    let now_ms = stamp.now_ms;
    let mut after = before.clone();
    let mut redacted = 0;
    if let Some(content) = change_content(before, params)? {
        redacted += content.n_redacted;
        after.content = content.text;
        after.key = None; // a rewritten memory belongs to the user: the next import leaves it alone
    }
    if let Some(title) = &params.fields.title {
        let title = fields::validate_title(title, params.fields.allow_secret).map_err(field_error)?;
        redacted += title.as_ref().map_or(0, |title| title.n_redacted);
        after.title = title.map(|title| title.text);
    }
    if let Some(container) = &params.fields.container {
        after.container = stamp.choose_container(Some(container)).map_err(field_error)?;
    }
    if let Some(tier) = params.fields.tier {
        let end = stamp.tiers.expiry_in(tier, now_ms).filter(|_| !before.is_shared_or_team());
        (after.tier, after.expires_at) = (tier, end);
    }
    match params.fields.ttl.as_deref() {
        Some(ttl) if before.is_shared_or_team() && ttl != "never" => {
            return Err(refused_error(
                format!("ttl: {} is shared, and a shared memory does not expire", before.id),
                "make the memory private first, with `memo share remove`",
            ));
        }
        Some(ttl) => {
            after.expires_at = time::parse_expiry(ttl, &to_local_time(now_ms)).map_err(field_error)?;
        }
        None => {}
    }
    if let Some(priority) = params.fields.priority {
        after.priority = fields::validate_priority(priority).map_err(field_error)?;
    }
    if let Some(confidence) = params.fields.confidence {
        after.confidence = fields::validate_confidence(confidence).map_err(field_error)?;
    }
    let ChangeStamp { layout, .. } = stamp;
    after.anchors =
        unite_anchors(&before.anchors, &params.remove_about, &params.anchors, &params.caller.cwd, layout)?;
    after.metadata = change_metadata(&before.metadata, params)?;
    let gone = fields::validate_tags(&params.remove_tags).map_err(field_error)?;
    after.tags.extend(fields::validate_tags(&params.add_tags).map_err(field_error)?);
    after.tags.retain(|tag| !gone.contains(tag));
    after.tags = fields::validate_tags(&after.tags).map_err(field_error)?;
    if stamp.is_agent() && has_changed_text(before, &after) {
        after.source = fields::source_after_agent(&before.source).to_owned();
        after.agent.clone_from(&stamp.agent);
    }
    Ok((after, redacted))
}

/// Returns the changed content with the number of private parts that were removed; `None` if the content stays.
fn change_content(before: &MemoryRecord, params: &UpdateParams) -> JobResult<Option<StorableText>> {
    match (&params.content, &params.append) {
        (Some(_), Some(_)) => {
            let both = "content, append: only one is allowed".to_owned();
            Err(refused_error(both, "pass either the new text or the text to append"))
        }
        (Some(content), None) => {
            Ok(Some(fields::validate_content(content, params.fields.allow_secret).map_err(field_error)?))
        }
        (None, Some(added)) => {
            let added = fields::validate_content(added, params.fields.allow_secret).map_err(field_error)?;
            let text = format!("{}\n{}", before.content, added.text);
            // This checks the length, because two valid texts may together be too long. It does not search for credentials: the added
            // text was searched above, and a credential in the former text was stored on purpose.
            fields::validate_content(&text, true).map_err(field_error)?;
            Ok(Some(StorableText { text, ..added }))
        }
        (None, None) => Ok(None),
    }
}

fn change_metadata(before: &Map<String, Value>, params: &UpdateParams) -> JobResult<Map<String, Value>> {
    if params.fields.metadata.is_empty() && !params.replace_metadata {
        return Ok(before.clone());
    }
    let mut after = if params.replace_metadata { Map::new() } else { before.clone() };
    let over = fields::validate_metadata(params.fields.metadata.clone(), params.fields.allow_secret)
        .map_err(field_error)?;
    fields::patch_metadata(&mut after, over);
    fields::validate_metadata(after, true).map_err(field_error) // the combined metadata may be too long
}
