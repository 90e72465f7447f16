//! Changes the fields of a memory.

use memod_engine::clock::local;
use memod_engine::errors::RpcResult;
use memod_memory::fields::KeptText;
use memod_memory::{fields, time};
use memod_memory_db::{Record, Rows};
use memod_proto::Caveats;
use memod_proto::memory::{UpdateParams, UpdateResult};
use serde_json::{Map, Value};

use super::about::{resolve_into, united};
use super::rules::{Done, bad, check_text, find_living, refused, says_other};
use super::show;
use super::stamp::Stamp;
use super::transaction::Call;

/// Changes a memory; absent fields stay.
pub(super) async fn update(call: &Call<'_>) -> RpcResult<Value> {
    call.write_found(params(call), put).await
}

async fn params(call: &Call<'_>) -> RpcResult<UpdateParams> {
    let mut params: UpdateParams = call.params()?;
    resolve_into(&mut params.anchors, &params.add_about, call).await?;
    Ok(params)
}

fn put(rows: &Rows<'_>, params: &UpdateParams, stamp: &Stamp) -> Done<UpdateResult> {
    let before = find_living(rows, &params.id, stamp.now_ms)?;
    let (after, redacted) = changed(&before, params, stamp)?;
    if after.content != before.content || after.container != before.container {
        check_text(rows, &after)?;
    }
    let (after, changed) = stamp.put(rows, "update", &before, after)?;
    let is_asked = after.content != before.content && !params.fields.allow_secret;
    let warning = is_asked.then(|| fields::warn_of_credential("content", &after.content)).flatten();
    let memory = show::memory(after, stamp.now_ms);
    Ok(UpdateResult { changed, redacted, warning, memory, caveats: Caveats::default() })
}

/// Returns the changed memory, and the number of private parts that were removed from new texts.
fn changed(before: &Record, params: &UpdateParams, stamp: &Stamp) -> Done<(Record, usize)> {
    let now_ms = stamp.now_ms;
    let mut after = before.clone();
    let mut redacted = 0;
    if let Some(content) = content(before, params)? {
        redacted += content.redacted;
        after.content = content.text;
        after.key = None; // whoever rewrites it makes it theirs: the next import leaves it alone
    }
    if let Some(title) = &params.fields.title {
        let title = fields::validate_title(title, params.fields.allow_secret).map_err(bad)?;
        redacted += title.as_ref().map_or(0, |title| title.redacted);
        after.title = title.map(|title| title.text);
    }
    if let Some(container) = &params.fields.container {
        after.container = stamp.container(Some(container)).map_err(bad)?;
    }
    if let Some(tier) = params.fields.tier {
        let end = stamp.tiers.expiry_in(tier, now_ms).filter(|_| !before.is_shared());
        (after.tier, after.expires_at) = (tier, end);
    }
    match params.fields.ttl.as_deref() {
        Some("never") => after.expires_at = None,
        Some(_) if before.is_shared() => {
            return Err(refused(
                format!("ttl: {} is shared, and a shared memory does not end", before.id),
                "`memo unshare` keeps it here",
            ));
        }
        Some(ttl) => after.expires_at = Some(time::parse_expiry(ttl, &local(now_ms)).map_err(bad)?),
        None => {}
    }
    if let Some(priority) = params.fields.priority {
        after.priority = fields::validate_priority(priority).map_err(bad)?;
    }
    if let Some(confidence) = params.fields.confidence {
        after.confidence = fields::validate_confidence(confidence).map_err(bad)?;
    }
    let Stamp { layout, .. } = stamp;
    after.anchors =
        united(&before.anchors, &params.remove_about, &params.anchors, &params.caller.cwd, layout)?;
    after.metadata = metadata(&before.metadata, params)?;
    let gone = fields::validate_tags(&params.remove_tags).map_err(bad)?;
    after.tags.extend(fields::validate_tags(&params.add_tags).map_err(bad)?);
    after.tags.retain(|tag| !gone.contains(tag));
    after.tags = fields::validate_tags(&after.tags).map_err(bad)?;
    if stamp.is_agent() && says_other(before, &after) {
        after.source = fields::source_after_agent(&before.source).to_owned();
        after.agent.clone_from(&stamp.agent);
    }
    Ok((after, redacted))
}

/// Returns the changed content, and the number of private parts that were removed from it; `None` if it stays.
fn content(before: &Record, params: &UpdateParams) -> Done<Option<KeptText>> {
    match (&params.content, &params.append) {
        (Some(_), Some(_)) => {
            let both = "content, append: only one is allowed".to_owned();
            Err(refused(both, "pass either the new text or the text to append"))
        }
        (Some(content), None) => {
            Ok(Some(fields::validate_content(content, params.fields.allow_secret).map_err(bad)?))
        }
        (None, Some(added)) => {
            let added = fields::validate_content(added, params.fields.allow_secret).map_err(bad)?;
            let text = format!("{}\n{}", before.content, added.text);
            // Two valid texts may together be too long. A credential that was stored on purpose stays.
            fields::validate_content(&text, true).map_err(bad)?;
            Ok(Some(KeptText { text, ..added }))
        }
        (None, None) => Ok(None),
    }
}

fn metadata(before: &Map<String, Value>, params: &UpdateParams) -> Done<Map<String, Value>> {
    if params.fields.metadata.is_empty() && !params.replace_metadata {
        return Ok(before.clone());
    }
    let mut after = if params.replace_metadata { Map::new() } else { before.clone() };
    let over =
        fields::validate_metadata(params.fields.metadata.clone(), params.fields.allow_secret).map_err(bad)?;
    fields::merge_metadata(&mut after, over);
    fields::validate_metadata(after, true).map_err(bad) // the sum may be too long
}
