//! Distinguishes tags of components from elements of HTML and SVG.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::component_code::ComponentFormat;
use super::component_name::{capitalize_word, join_words};

/// Elements without an end tag.
const VOID: [&str; 14] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];

/// Elements of HTML, SVG and MathML, and those that the formats have themselves.
const ELEMENTS: &str = "a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button canvas caption \
    center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font \
    footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main \
    map mark marquee menu meta meter nav nobr noframes noscript object ol optgroup option output p param picture pre progress q rp \
    rt ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody td \
    template textarea tfoot th thead time title tr track tt u ul var video wbr \
    animate animateMotion animateTransform circle clipPath defs desc discard ellipse feBlend feColorMatrix feComponentTransfer \
    feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG \
    feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile \
    feTurbulence filter foreignObject g image line linearGradient marker mask metadata mpath path pattern polygon polyline \
    radialGradient rect set stop switch symbol text textPath tspan use view math mi mn mo mrow mfrac msqrt msup msub mtext \
    component transition keep-alive transition-group teleport suspense";

static ELEMENT_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| ELEMENTS.split_whitespace().collect());

/// Returns whether an element has no end tag.
pub(super) fn is_void(tag: &str) -> bool {
    VOID.contains(&tag)
}

/// Returns the name of the component that a tag without a dot means; `None` for an element of the page. Only Vue reads `<user-card>`
/// and `<card>` as `UserCard` and `Card`.
pub(super) fn component_of_tag(format: ComponentFormat, tag: &str) -> Option<String> {
    if tag.starts_with(|c: char| c.is_uppercase()) {
        return Some(tag.to_owned());
    }
    let may_mean = format == ComponentFormat::Vue
        && tag.starts_with(|c: char| c.is_alphabetic())
        && !tag.contains(':')
        && !ELEMENT_NAMES.contains(tag);
    may_mean.then(|| if tag.contains('-') { join_words(tag) } else { capitalize_word(tag) })
}

/// Returns a name with hyphens as scripts write it: `userName` for `user-name`.
pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('-');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| name + &capitalize_word(word))
}
