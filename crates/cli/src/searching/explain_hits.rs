//! Prints how each hit was ranked.

use memod_proto::{Explain, Hit, Parsed, ParsedFilter};
use memod_terminal::text::escape_for_display;
use memod_terminal::{CliError, CliResult, CommandContext, EXIT_NOTHING_FOUND, Output};

use super::hits::{fetch_hits, print_hit, result_note, terms_to_highlight};
use crate::args::ExplainArgs;
use crate::args::build_params;
use crate::daemon::status::print_field;

/// Number of hits among which `--hit` and `--of` select.
const MAX_HITS: usize = 200;

/// Prints how each hit was ranked. Exits with 1 when nothing matched, or nothing that --hit or --of selects.
pub(crate) fn explain_hits(typed: ExplainArgs, context: &CommandContext, output: &mut Output) -> CliResult {
    let config = memod_config::load_settings(Some(&context.layout))?.config;
    let (wanted, name, threshold) = (typed.hit, typed.of, typed.find.threshold);
    let mut params = build_params::search_params(typed.find, &context.cwd, &config);
    params.explain = true;
    if name.is_some() || wanted.is_some() {
        params.limit = Some(MAX_HITS);
        // The setting `search.threshold` must not hide the hit that the user asks about.
        params.threshold = Some(threshold.unwrap_or(0.0));
    }
    let mut result = fetch_hits(&params, context)?;
    result.hits.retain(|hit| {
        wanted.is_none_or(|wanted| wanted == hit.rank)
            && name.as_ref().is_none_or(|name| has_path_or_id(hit, name))
    });
    let terms = terms_to_highlight(&result);
    output.write_list(&result, |output| {
        print_parsed(&result.parsed, output)?;
        for (nth, hit) in result.hits.iter().enumerate() {
            if nth > 0 || !result.parsed.is_plain() {
                output.write_line("")?;
            }
            print_hit(hit, &terms, output)?;
            print_ranking(hit, output)?;
        }
        Ok(())
    })?;
    if output.is_text() {
        output.flush()?;
        if result.hits.is_empty() {
            output.write_note(&format!("not among the {} best hits", result.total.min(MAX_HITS)));
        } else if let Some(note) = result_note(&result) {
            output.write_note(&note);
        }
    }
    Ok(if result.hits.is_empty() { EXIT_NOTHING_FOUND } else { 0 })
}

/// Prints how a query was parsed: its expression, filters and notes, if it has any.
fn print_parsed(parsed: &Parsed, output: &mut Output) -> Result<(), CliError> {
    if let Some(expression) = &parsed.expression {
        print_field("query", &escape_for_display(expression), output)?;
    }
    for ParsedFilter { key, value, not } in &parsed.filters {
        print_field(
            "filter",
            &escape_for_display(&format!("{}{key}:{value}", if *not { "not " } else { "" })),
            output,
        )?;
    }
    parsed.notes.iter().try_for_each(|note| print_field("note", &escape_for_display(note), output))
}

/// Formats a number: with three decimals, or with an exponent if it is small, because BM25 scores of very few texts are around a
/// millionth.
fn format_number(value: f64) -> String {
    if value == 0.0 || value.abs() >= 0.001 { format!("{value:.3}") } else { format!("{value:.1e}") }
}

/// Returns whether `name` is the path, the id or the beginning of the id of a hit.
fn has_path_or_id(hit: &Hit, name: &str) -> bool {
    let id = hit.id.as_deref().unwrap_or_default();
    let beginning = name.to_ascii_uppercase();
    let digits = beginning.strip_prefix("MEM_").unwrap_or(&beginning);
    hit.path == name
        || hit.shown_path() == name
        || !digits.is_empty() && id.strip_prefix("mem_").is_some_and(|id| id.starts_with(digits))
        || hit.commit.as_ref().is_some_and(|commit| commit.oid.starts_with(name))
}

fn print_ranking(hit: &Hit, output: &mut Output) -> Result<(), CliError> {
    let Explain { signals, fused, factors } = hit.explain.clone().unwrap_or_default();
    print_field("place", &format!("{}, score {:.3}", hit.rank, hit.score), output)?;
    if !hit.classes.is_empty() {
        print_field(
            "class",
            &hit.classes.iter().map(|class| class.as_str()).collect::<Vec<_>>().join(", "),
            output,
        )?;
    }
    for signal in signals {
        let place = signal.rank.map(|rank| format!("place {rank}"));
        let parts: Vec<String> = place.into_iter().chain(signal.value.map(format_number)).collect();
        print_field(&signal.arm, &parts.join(", "), output)?;
    }
    print_field("fused", &format!("{fused:.3}"), output)?;
    for factor in &factors {
        print_field(&factor.name, &format!("x {:.3}", factor.times), output)?;
    }
    let product = factors.iter().fold(fused, |product, factor| product * factor.times);
    print_field("product", &format!("{product:.3}, as a score 1 - e^-{product:.3}"), output)
}
