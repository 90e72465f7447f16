//! Tests that what components use, bind and define is found.

use std::time::{Duration, Instant};

use memod_base::types::{UseReceiver, UseRole};

use super::{ComponentFormat, read_component};
use crate::extract;

/// Returns the uses of a file, one word each: `line:receiver.name`, with `()` after calls and `import` before imported names. Names
/// that are bound are left out by the extraction.
fn list_uses(path: &str, text: &str) -> String {
    let structure = extract(path, text).structure;
    let shown = structure.uses.iter().map(|used| {
        let receiver = match used.receiver {
            UseReceiver::Named(path) => format!("{}.", structure.name(path)),
            UseReceiver::Own => "this.".to_owned(),
            UseReceiver::Other => "?.".to_owned(),
            UseReceiver::Import => "import ".to_owned(),
            UseReceiver::None | UseReceiver::Fixture => String::new(),
        };
        let call = if used.role == UseRole::Call { "()" } else { "" };
        format!("{}:{receiver}{}{call}", used.line, structure.name(used.name))
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn check_uses(path: &str, text: &str, expected: &str) {
    let problems = extract(path, text).problems;
    assert_eq!((list_uses(path, text).as_str(), problems), (expected, Vec::new()), "{text}");
}

fn check_template(template: &str, expected: &str) {
    check_uses("A.vue", &format!("<template>{template}</template>\n"), expected);
}

#[test]
fn a_template_of_vue_uses_tags_and_expressions() {
    check_template("<MyButton @click=\"save\"/>", "1:MyButton 1:save()");
    check_template("<my-button @click='save()'/><card/><div/>", "1:MyButton 1:save() 1:Card");
    check_template("{{ formatMoney(x) }}{{ a }}{{b}}", "1:formatMoney() 1:x 1:a 1:b");
    check_template("<p :class=\"{ a: b, [c]: d }\" :style=\"[e, { f }]\"/>", "1:b 1:c 1:d 1:e 1:f");
    check_template("<p v-if=\"a > 1 && b\" v-else-if=\"!c\" v-show=\"d\"/>", "1:a 1:b 1:c 1:d");
    check_template("<p @a=\"count++; save(x)\" @b=\"if (y) z()\"/>", "1:count 1:save() 1:x 1:y 1:z()");
    check_template("<p @a=\"(e) => save(e)\" @b=\"function (e) { save(e) }\"/>", "1:save() 1:save()");
    check_template(
        "<p @a=\"async () => { await save() }\" @b.stop=\"form.save\"/>",
        "1:save() 1:form.save()",
    );
    check_template("<p :a=\"(b as C).d\" :e='`${f(1)}`'/>", "1:b 1:C 1:C().d 1:f()");
    check_template("<p :a=\"b\":c=\"d\" :e=f :user-name/>", "1:b 1:d 1:f 1:userName");
    check_template("<p v-focus v-click-outside:arg.mod=\"close\"/>", "1:vFocus 1:vClickOutside 1:close");
    check_template(
        "<Foo.Bar/><component :is=\"Card\"/><component is=\"my-card\"/>",
        "1:Foo.Bar 1:Card 1:MyCard",
    );
    check_template("<p :a=\"b &amp;&amp; c &lt; d\"/>", "1:b 1:c 1:d");
    check_template("<p :a=\"\" @b=\"\" v-else>{{ }} {{}}</p>", "");
    check_template("<!-- {{ a }} <B/> --> a < b {c} }} <p title=\"f(x)\">", "");
}

#[test]
fn what_has_v_pre_is_text() {
    check_template("<p v-pre :a=\"b\" @c=\"d\">{{ e }}<Card :f=\"g\"/></p>{{ h }}", "1:h");
    check_template(
        "<div v-pre>{{ a }}<div><div/>{{ b }}</div><!-- </div> --></div><Card :c=\"d\"/>",
        "1:Card 1:d",
    );
    check_template("<img v-pre :src=\"a\"><Card v-pre/><p>{{ b }}</p>", "1:b");
    check_template("<p v-pre>{{ a }}", "");
}

#[test]
fn a_script_of_astro_in_the_browser_has_names_of_its_own() {
    let text = "---\nimport { load, track } from '../api'\nconst title = load()\nfunction open() {}\n---\n<h1 onclick={open}>{title}</h1>\n<script>\n\
        import { track } from './track'\nfunction close() { open(); title; track() }\nclose()\n</script>\n<p>{close()}{track()}</p>\n<script define:vars={{ title }}>\n\
        use(title)\nload.all()\n</script>\n";
    let expected = "2:import load 2:import track 3:load() 6:open 6:title 8:import track 9:track() 10:close() 12:track() 13:title 14:use() 14:title";
    check_uses("pages/a.astro", text, expected);
    let structure = extract("pages/a.astro", text).structure;
    let scopes: Vec<_> = structure.imports.iter().map(|import| (import.line, import.scope_lines)).collect();
    assert_eq!(scopes, [(2, None), (2, None), (8, Some((7, 10)))]);
    let vue = "<script>\nfunction open() {}\n</script>\n<script setup>\nopen()\n</script>\n";
    check_uses("A.vue", vue, "5:open()");
}

#[test]
fn a_component_with_a_long_line_of_markup_is_read() {
    let icon = "M0 0".repeat(5_000);
    let template =
        format!("<template>\n  <path d=\"{icon}\"/>\n  <p>{{{{ formatMoney(x) }}}}</p>\n</template>\n");
    check_uses("A.vue", &template, "3:formatMoney() 3:x");
    let svelte = format!("<path d=\"{icon}\"/>\n<p>{{formatMoney(x)}}</p>\n");
    check_uses("A.svelte", &svelte, "2:formatMoney() 2:x");
    let astro = format!("---\nconst x = load()\n---\n<style>{icon}</style>\n<p>{{x}}</p>\n");
    check_uses("A.astro", &astro, "2:load() 5:x");
    let minified = format!("<script>{}</script>\n", "a(1);".repeat(3_000));
    let found = extract("A.vue", &minified);
    let why = "a line has over 10,000 bytes, so the component is not read";
    assert_eq!((found.minified, found.problems), (true, vec![why.to_owned()]));
}

#[test]
fn what_a_template_of_vue_binds_is_no_use() {
    check_template(
        "<A v-for=\"(item, i) in items\" :key=\"item.id\">{{ f(item, i) }}</A>{{ item }}",
        "1:A 1:items 1:?.id 1:f() 1:item",
    );
    check_template("<b v-for=\"{ x, y: [z] } of list(x)\">{{ x + y + z }}</b>", "1:list() 1:y");
    check_template(
        "<A #cell=\"{ row, index: n = 1 }\">{{ row.a }} {{ n }} {{ index }}</A>",
        "1:A 1:?.a 1:index",
    );
    check_template("<A v-slot=\"props\"><br><B :a=\"props\"/></A>{{ props }}", "1:A 1:B 1:props");
    check_template("<A :f=\"(a, { b }) => a + b + c\" @d=\"$event\"/>", "1:A 1:c 1:$event()");
}

#[test]
fn scripts_are_read_on_their_own_lines() {
    let text = "\u{feff}<script lang=\"ts\">\r\nimport A from './A.vue'\r\n</script>\r\n<script setup lang=\"ts\">\r\nconst f = <T,>(x: T) => g(x)\r\n</script>\r\n\
        <style>\r\n.a { b: c }\r\n</style>\r\n<i18n>\r\n{{ d }}\r\n</i18n>\r\n<template>\r\n<A/>{{ f(1) }}\r\n</template>";
    check_uses("a.vue", text, "2:import A 5:g() 14:A 14:f()");
    let jsx = "<script lang=\"tsx\">\nexport default () => <A b={c}/>\n</script>\n";
    check_uses("a.vue", jsx, "2:A() 2:c");
    check_uses(
        "a.svelte",
        "<script>\nf()\n</script>\n<svelte:head><script>g()</script></svelte:head>",
        "2:f()",
    );
    check_uses(
        "a.astro",
        "---\nf()\n---\n<script>\ng()\n</script><script type=\"application/ld+json\">{h}</script>",
        "2:f() 5:g()",
    );
    let found = extract(
        "a.vue",
        "<template lang=\"pug\">\np {{ a }}\n</template>\n<script lang=\"coffee\">\na = b\n</script>\n",
    );
    assert_eq!(found.problems, ["a template in pug is not read", "a script in coffee is not read"]);
    assert!(found.structure.uses.is_empty(), "{found:?}");
}

#[test]
fn a_template_of_svelte_uses_tags_and_expressions() {
    let check = |text: &str, expected: &str| check_uses("a.svelte", text, expected);
    check("<A b={c} {d} {...e} f=\"g {h(1)} {i}\"/>{j}{k}", "1:A 1:c 1:d 1:e 1:h() 1:i 1:j 1:k");
    check("{#if f(x)}{a}{:else if b}{c}{:else}{d}{/if}", "1:f() 1:x 1:a 1:b 1:c 1:d");
    check("{#each items as item, i (item.id)}{f(item, i)}{/each}{item}", "1:items 1:?.id 1:f() 1:item");
    check("{#each a as Item[] as { x, y: z }}{x}{z}{/each}{#each [1, 2] as n}{n}{/each}", "1:a 1:Item");
    check(
        "<p on:click={save} onclick={a.save} on:b={() => save(1)} on:c=\"{d}\" on:e/>",
        "1:save() 1:a.save() 1:save() 1:d()",
    );
    check(
        "<p bind:value bind:this={el} class:on class:off={x} use:tip={y} transition:fade|local/>",
        "1:value 1:el 1:on 1:x 1:tip() 1:y 1:fade()",
    );
    check("<A let:row let:b={{ c }}>{row}{c}</A>{row}", "1:A 1:row");
    check("{#await load() then { data }}{data}{:catch e}{e}{/await}", "1:load()");
    check("{#await p}{q}{:then v}{v}{/await}", "1:p 1:q");
    check("{#if a}{@const { b } = f(a)}{b}{/if}{@html c}{@render d(e)}", "1:a 1:f() 1:a 1:c 1:d() 1:e");
    check("{#snippet row(item)}{item}{/snippet}{@render row(x)}", "1:row() 1:x");
    check("<p style:color={{ a: b }.a}>{/* c */}{\"d\"}{`e ${f}`}{g ? '}' : h}</p>", "1:b 1:?.a 1:f 1:g 1:h");
    check(
        "{$count}{$store.items.length}{$page.url}",
        "1:count 1:store 1:$store.items 1:$store.items.length 1:page 1:$page.url",
    );
    check("<card/><a.B/><svelte:component this={C}/>", "1:a.B 1:C");
}

#[test]
fn a_template_of_astro_uses_tags_and_expressions() {
    let check = |text: &str, expected: &str| check_uses("a.astro", text, expected);
    check("<A b={c} {d} {...e}/>{f(g)}{h}", "1:A 1:c 1:d 1:e 1:f() 1:g 1:h");
    check(
        "{items.map((item) => <Card a={item.b} {item}>{f(item)}{c}<br/>it's</Card>)}",
        "1:items 1:items.map() 1:Card 1:item~0.b 1:f() 1:c",
    );
    check("{a ? <B/> : <><C d={e}/>{g}</>}{h && <p>x</p>}", "1:a 1:B 1:C 1:e 1:g 1:h");
    check(
        "{a.map(b => { return <A>{c.map(d => <B e={d} f={g}/>)}</A> })}",
        "1:a 1:a.map() 1:A 1:c 1:c.map() 1:B 1:g",
    );
    check("<p class=`a ${b}` c=\"{d}\" set:html={e}/>{f < g}{<!-- h -->}", "1:b 1:e 1:f 1:g");
    check("<style define:vars={{ a, b: c }}>{d}</style>{e}", "1:a 1:c 1:e");
    check("---\nconst a = 1\n---\n{a}\n---\n", "4:a");
}

#[test]
fn a_component_is_defined_with_what_is_in_it() {
    let found = extract("src/user-card.vue", include_str!("../../../../grammars/vue/fixture.vue"));
    let titles: Vec<_> = found.structure.declared.iter().map(|item| item.title.as_str()).collect();
    let expected = [
        "UserCard",
        "UserCard.LIMIT",
        "UserCard.user, size, isHidden",
        "UserCard.emit",
        "UserCard.count",
        "UserCard.save",
        "UserCard.open",
    ];
    assert_eq!(titles, expected);
    let exported: Vec<_> =
        found.structure.exports.iter().map(|export| (&*export.name, &*export.local)).collect();
    assert_eq!(exported, [("default", "UserCard")]);
    let options = "<template><p @click=\"save\"/></template>\n<script>\nexport default {\n  methods: { save() {} },\n  setup() { return {} },\n}\n</script>\n";
    let found = extract("Old.vue", options);
    let titles: Vec<_> = found.structure.declared.iter().map(|item| item.title.as_str()).collect();
    assert_eq!(titles, ["Old", "Old.methods.save", "Old.setup"]);
    assert_eq!(found.structure.exports.len(), 1, "{found:?}");
    let empty = extract("Empty.svelte", "<p>text</p>\n");
    assert_eq!(empty.structure.declared.len(), 1, "{empty:?}");
    assert_eq!(empty.chunks.iter().filter(|chunk| chunk.symbol.as_deref() == Some("Empty")).count(), 1);
}

#[test]
fn hostile_texts_are_read_in_linear_time() {
    let parts = [
        "<",
        "{",
        "{{",
        "<a ",
        "<a b=\"",
        "<a b={",
        "<!--",
        "</",
        "<script>",
        "`${",
        "\"'",
        "{#each a as ",
        "<template>",
        "<A v-for=\"",
        "{<a>",
        "=/[",
        "/*",
        "<a></b>",
        "}}",
        "é<é",
        "((((,",
        "<a {",
        "\r\n<p :a=b\r\n",
        "{@const ",
        "---\n",
        "{a as ",
        "<a>{b.map(c=><d>{",
        "<p v-for=\"{{{{,,,,\">",
        "&amp;",
    ];
    let formats = [ComponentFormat::Vue, ComponentFormat::Svelte, ComponentFormat::Astro];
    for part in parts {
        for start in ["", "<template>\n", "---\n---\n{", "<p a=\"", "{"] {
            let text = format!("{start}{}", part.repeat(60_000 / part.len()));
            for format in formats {
                let began = Instant::now();
                let read = read_component(format, &text);
                assert_eq!(read.text.len(), text.len(), "{part}");
                // Quadratic time would be minutes.
                assert!(began.elapsed() < Duration::from_secs(5), "{format:?} {start:?} {part:?}");
            }
        }
        let short = part.repeat(500 / part.len());
        for path in ["a.vue", "a.svelte", "a.astro"] {
            extract(path, &short);
        }
    }
}

#[test]
fn no_cut_of_a_component_panics() {
    let fixtures = [
        ("a.vue", include_str!("../../../../grammars/vue/fixture.vue")),
        ("a.svelte", include_str!("../../../../grammars/svelte/fixture.svelte")),
        ("a.astro", include_str!("../../../../grammars/astro/fixture.astro")),
    ];
    for (path, text) in fixtures {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(7) {
            for cut in [&text[..at], &text[at..]] {
                for text in [cut.to_owned(), cut.replace('\n', "\r\n")] {
                    let found = extract(path, &text);
                    assert!(found.chunks.iter().all(|chunk| text.get(chunk.bytes.clone()).is_some()));
                }
            }
        }
    }
}
