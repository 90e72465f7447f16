//! Declares values that are written into settings, and renders them as JSON.

/// A value of settings. The members of an object keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigValue {
    /// A string.
    Text(String),
    /// A number.
    Number(u64),
    /// `true` or `false`.
    Flag(bool),
    /// An array.
    List(Vec<ConfigValue>),
    /// An object.
    Map(Vec<(String, ConfigValue)>),
}

/// The layout of rendered JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) enum JsonLayout<'a> {
    /// Everything on one line.
    Compact,
    /// Each member on a line of its own.
    Lines {
        /// The indentation of the line in which the value begins.
        indent: &'a str,
        /// The indentation that each level adds.
        unit: &'a str,
        /// `\n` or `\r\n`.
        eol: &'a str,
    },
}

impl ConfigValue {
    /// Creates a string.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// Creates an object.
    pub(crate) fn map<const N: usize>(members: [(&str, Self); N]) -> Self {
        Self::Map(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Returns the value as JSON.
    pub(crate) fn render(&self, layout: JsonLayout<'_>) -> String {
        match self {
            Self::Text(text) => quote_json(text),
            Self::Number(number) => number.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::List(items) if items.iter().all(Self::is_scalar) => {
                let items: Vec<_> = items.iter().map(|item| item.render(JsonLayout::Compact)).collect();
                format!("[{}]", items.join(", "))
            }
            Self::List(items) => render_block(
                '[',
                ']',
                layout,
                items.iter().map(|item| move |inner: JsonLayout<'_>| item.render(inner)),
            ),
            Self::Map(members) => render_block(
                '{',
                '}',
                layout,
                members.iter().map(|(key, value)| {
                    move |inner: JsonLayout<'_>| format!("{}: {}", quote_json(key), value.render(inner))
                }),
            ),
        }
    }

    fn is_scalar(&self) -> bool {
        !matches!(self, Self::List(_) | Self::Map(_))
    }
}

/// Returns a text as a JSON string, with quotes and escapes.
pub(crate) fn quote_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Renders an array or object between brackets; each of `items` renders one item in a layout.
fn render_block<F: Fn(JsonLayout<'_>) -> String>(
    open: char,
    close: char,
    layout: JsonLayout<'_>,
    items: impl ExactSizeIterator<Item = F>,
) -> String {
    if items.len() == 0 {
        return format!("{open}{close}");
    }
    match layout {
        JsonLayout::Compact => {
            let items: Vec<_> = items.map(|item| item(layout)).collect();
            format!("{open}{}{close}", items.join(", "))
        }
        JsonLayout::Lines { indent, unit, eol } => {
            let deeper = format!("{indent}{unit}");
            let inner = JsonLayout::Lines { indent: &deeper, unit, eol };
            let items: Vec<_> = items.map(|item| format!("{eol}{deeper}{}", item(inner))).collect();
            format!("{open}{}{eol}{indent}{close}", items.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        let value = ConfigValue::map([
            ("command", ConfigValue::text("C:\\memo \"x\"")),
            ("args", ConfigValue::List(vec![ConfigValue::text("mcp"), ConfigValue::Number(1)])),
            ("list", ConfigValue::List(vec![ConfigValue::map([("on", ConfigValue::Flag(true))])])),
            ("none", ConfigValue::Map(Vec::new())),
        ]);
        assert_eq!(
            value.render(JsonLayout::Compact),
            r#"{"command": "C:\\memo \"x\"", "args": ["mcp", 1], "list": [{"on": true}], "none": {}}"#
        );
        let lines = value.render(JsonLayout::Lines { indent: "\t", unit: "\t", eol: "\r\n" });
        let expected = "{\r\n\t\t\"command\": \"C:\\\\memo \\\"x\\\"\",\r\n\t\t\"args\": [\"mcp\", 1],\r\n\t\t\"list\": \
                        [\r\n\t\t\t{\r\n\t\t\t\t\"on\": true\r\n\t\t\t}\r\n\t\t],\r\n\t\t\"none\": {}\r\n\t}";
        assert_eq!(lines, expected);
    }
}
