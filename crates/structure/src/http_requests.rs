//! Finds the requests over HTTP in the text of a test, and whether a request means a route.
//!
//! Pure: takes lines. Only a request whose path is a literal is found, in the forms that the clients of tests have in any language:
//! `client.get('/x')`, `fetch(`${base}/x`)`, `inject({ method: 'POST', url: '/x' })`, `NewRequest("GET", "/x", nil)`.

use memod_base::types::HttpRoute;

/// Functions of clients that are named after a method of HTTP, and the method.
const METHODS: [(&str, &str); 8] = [
    ("get", "GET"),
    ("post", "POST"),
    ("put", "PUT"),
    ("patch", "PATCH"),
    ("delete", "DELETE"),
    ("del", "DELETE"),
    ("head", "HEAD"),
    ("options", "OPTIONS"),
];
/// Other functions that take the path of a request, and keys of their options, in small letters.
const CALLS: [&str; 12] = [
    "fetch",
    "request",
    "inject",
    "open",
    "newrequest",
    "goto",
    "visit",
    "uri",
    "url",
    "stream",
    "perform",
    "path",
];
/// The functions among them that send a GET unless the call names another method.
const DEFAULT_GET: [&str; 7] = ["fetch", "request", "inject", "open", "goto", "visit", "stream"];
/// Number of lines before and after a path on which the method of the request is looked for.
const NEAR_LINES: usize = 2;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method in capitals; empty if the text does not show it.
    pub method: String,
    /// The path without host and query. A part `{name}` matches any text.
    pub path: String,
    /// Line of the path, 1-based.
    pub line: u32,
}

/// How well a request fits a route; the greater, the better: whether the whole path fits, and the number of its parts that are equal.
pub type RouteFit = (bool, usize);

/// Returns the requests in a text, in the order of its lines.
pub fn list_requests<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<HttpRequest> {
    let lines: Vec<&str> = lines.collect();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for (start, content) in quoted_texts(line) {
            let Some(path) = path_of(content) else { continue };
            let before = line[..start].trim_end();
            let before = if before.is_empty() && at > 0 { lines[at - 1].trim_end() } else { before };
            if let Some((name, method)) = read_call(before) {
                let after = line.get(start + content.len() + 2..).unwrap_or_default().trim_start();
                // A call with nothing but a path gets it.
                let is_alone = DEFAULT_GET.contains(&name.as_str()) && after.starts_with(')');
                let method = match method {
                    "" if is_alone => "GET",
                    "" => find_method(&lines, at),
                    method => method,
                };
                found.push(HttpRequest { method: method.to_owned(), path, line: at as u32 + 1 });
            }
        }
    }
    found
}

/// Returns how well a request fits a route; `None` if it does not. A route may be declared below a prefix, so the end of the path
/// is compared if it has a part that is no parameter.
pub fn fit_route(route: &HttpRoute, request: &HttpRequest) -> Option<RouteFit> {
    let is_any = |method: &str| matches!(method, "" | "ALL" | "ANY");
    if !is_any(&route.method) && !is_any(&request.method) && route.method != request.method {
        return None;
    }
    let (wanted, given) = (parts_of(&route.path), parts_of(&request.path));
    let n_before = given.len().checked_sub(wanted.len())?;
    let pairs = || wanted.iter().zip(&given[n_before..]);
    let n_equal = pairs().filter(|(wanted, given)| wanted == given && !is_parameter(wanted)).count();
    let fits = pairs().all(|(wanted, given)| wanted == given || is_parameter(wanted) || given.contains('{'));
    let is_whole = n_before == 0;
    (fits && (n_equal > 0 || is_whole)).then_some((is_whole, n_equal))
}

/// Returns the methods that the declaration of a route lists, given its text; none if it lists none. A route of Flask that lists none
/// takes only those that read.
pub fn list_methods(declaration: &str) -> Vec<&'static str> {
    let named = |is_it: &dyn Fn(&str, &str) -> bool| -> Vec<&'static str> {
        let all = METHODS.iter().filter(|(word, method)| *word != "del" && is_it(word, method));
        all.map(|(_, method)| *method).collect()
    };
    let after = |word: &str| declaration.split_once(word).map(|(_, after)| after);
    // `methods=["POST"]`, `methods: ['POST']`, `.Methods("POST")`
    if let Some(listed) = after("methods").or_else(|| after(".Methods(")) {
        let listed = listed.split([']', ')']).next().unwrap_or_default();
        let quoted = quoted_texts(listed);
        return named(&|_, method| quoted.iter().any(|(_, text)| text.eq_ignore_ascii_case(method)));
    }
    // Spring: `method = {RequestMethod.PUT, RequestMethod.POST}`
    if let Some(listed) = after("RequestMethod.") {
        return named(&|_, method| listed.split(|c: char| !c.is_alphanumeric()).any(|word| word == method));
    }
    if !declaration.contains(".route(") {
        return Vec::new();
    }
    if declaration.trim_start().starts_with('@') {
        return vec!["GET", "HEAD", "OPTIONS"];
    }
    // axum: `.route("/x", get(list).post(create))`
    let is_called = |word: &str, _: &str| {
        let call = format!("{word}(");
        let mut calls = declaration.match_indices(&call).map(|(at, _)| &declaration[..at]);
        calls.any(|before| before.ends_with([' ', '.', ':', ',']))
    };
    named(&is_called)
}

/// Returns how well a request fits a route whose declaration lists `methods`, as [`fit_route`]; with no methods, that of the route
/// counts.
pub fn fit_methods(route: &HttpRoute, methods: &[&str], request: &HttpRequest) -> Option<RouteFit> {
    if methods.is_empty() {
        return fit_route(route, request);
    }
    let is_taken = request.method.is_empty() || methods.contains(&request.method.as_str());
    is_taken.then(|| fit_route(&HttpRoute { method: String::new(), ..route.clone() }, request))?
}

/// Returns the longest part of the path of a route that is no parameter.
pub fn longest_part(route: &HttpRoute) -> Option<&str> {
    parts_of(&route.path).into_iter().filter(|part| !is_parameter(part)).max_by_key(|part| part.len())
}

fn parts_of(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// Returns whether a part of a route is a parameter: `:id`, `{id}`, `<int:id>`, `[id]`, `*`.
fn is_parameter(part: &str) -> bool {
    part.starts_with([':', '*']) || part.contains(['{', '<', '[', '*', '('])
}

/// Returns the texts in quotes on a line, each with the byte of its quote. Quotes in a text end it unless they are escaped.
fn quoted_texts(line: &str) -> Vec<(usize, &str)> {
    let bytes = line.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let quote = bytes[at];
        at += 1;
        if !matches!(quote, b'"' | b'\'' | b'`') {
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at] != quote {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        found.extend(line.get(start..at).map(|content| (start - 1, content)));
        at += 1;
    }
    found
}

/// Returns the path of a URL, without query; `None` for another text. What is inserted into the text becomes `{}`.
fn path_of(content: &str) -> Option<String> {
    let after_host = content.split_once("://").map(|(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    // `${base}/x`, `{base}/x`
    let inserted = content.strip_prefix('$').unwrap_or(content);
    let after_base = inserted.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(_, rest)| rest);
    let path = after_host.or(after_base).unwrap_or(content);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if !path.starts_with('/') || path.starts_with("//") || path.contains(char::is_whitespace) {
        return None;
    }
    let mut plain = String::new();
    let mut rest = path;
    while let Some((before, inside)) = rest.split_once('{') {
        plain.push_str(before.trim_end_matches('$'));
        plain.push_str("{}");
        rest = inside.split_once('}').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    Some(plain)
}

/// Returns the function or key whose path follows `before`, in small letters, and the method of the request, empty if that does not
/// show it; `None` if no request is there.
fn read_call(before: &str) -> Option<(String, &'static str)> {
    let before = before
        .strip_suffix(['f', 'r', 'b', 'u'])
        .filter(|rest| rest.ends_with(['(', ' ', ',']))
        .unwrap_or(before);
    let before = before.trim_end();
    let key = before.strip_suffix([':', '=']).map(last_word);
    if let Some(key) = key.map(str::to_lowercase).filter(|key| CALLS.contains(&key.as_str())) {
        return Some((key, ""));
    }
    let (called, arguments) = before.rsplit_once('(')?;
    let called = called.split_once('<').map_or(called, |(called, _)| called);
    let name = last_word(called).to_lowercase();
    let of_name = METHODS.iter().find(|(known, _)| *known == name).map(|(_, method)| *method);
    let of_arguments = quoted_method(arguments);
    let method = match of_name {
        Some(method) => arguments.trim().is_empty().then_some(method),
        None => CALLS.contains(&name.as_str()).then(|| of_arguments.unwrap_or_default()),
    };
    method.map(|method| (name, method))
}

fn last_word(text: &str) -> &str {
    let text = text.trim_end();
    let start = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    text.get(start..).unwrap_or_default()
}

/// Returns the method that a text has in quotes.
fn quoted_method(text: &str) -> Option<&'static str> {
    let quoted = quoted_texts(text);
    METHODS
        .iter()
        .find(|(_, method)| quoted.iter().any(|(_, word)| word == method))
        .map(|(_, method)| *method)
}

/// Returns the method that the lines around a path name, as in `{ method: 'POST', url: '/x' }`.
fn find_method(lines: &[&str], at: usize) -> &'static str {
    let goes_on = lines[at].trim_end().ends_with([',', '{', '(']);
    let near = if goes_on { NEAR_LINES } else { 0 };
    let around = at.saturating_sub(near)..lines.len().min(at + near + 1);
    let mut with_word: Vec<usize> = around.filter(|line| lines[*line].contains("method")).collect();
    with_word.sort_by_key(|line| line.abs_diff(at));
    with_word.into_iter().find_map(|line| quoted_method(lines[line])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show_requests(text: &str) -> Vec<String> {
        let requests = list_requests(text.lines()).into_iter();
        requests.map(|found| format!("{} {} {}", found.line, found.method, found.path)).collect()
    }

    #[test]
    fn requests_of_clients_in_all_forms_are_found() {
        let text = "\
client.get('/users')
await request(app).post(`/users/${id}/orders?x=1`)
res = self.client.put(f\"/users/{user.id}\")
fetch(\"http://localhost:3000/health\")
fetch(`${base}/a/b`, { method: 'DELETE' })
app.inject({ method: 'PATCH', url: '/c' })
await app.inject({
  url: '/d',
  method: 'POST',
})
req := httptest.NewRequest(\"GET\", \"/e\", nil)
client.get(
    \"/f\",
)
const dir = join('/tmp', 'x')
expect(path).toBe('/g')
get<User>('/h')
";
        let expected = [
            "1 GET /users",
            "2 POST /users/{}/orders",
            "3 PUT /users/{}",
            "4 GET /health",
            "5 DELETE /a/b",
            "6 PATCH /c",
            "8 POST /d",
            "11 GET /e",
            "13 GET /f",
            "17 GET /h",
        ];
        assert_eq!(show_requests(text), expected);
    }

    #[test]
    fn a_request_without_a_method_gets_its_path() {
        let text = "app.request('/a')\nfetch('/b', options)\nclient.open('/c', method='PUT')\ninject({ url: '/d' })\npage.goto('/e')\n";
        assert_eq!(show_requests(text), ["1 GET /a", "2  /b", "3 PUT /c", "4  /d", "5 GET /e"]);
    }

    #[test]
    fn the_methods_that_a_declaration_lists_are_read() {
        let check = |text: &str, expected: &[&str]| assert_eq!(list_methods(text), expected, "{text}");
        check("@app.route('/x', methods=['POST', \"put\"])", &["POST", "PUT"]);
        check("@bp.route(\n    '/x',\n)", &["GET", "HEAD", "OPTIONS"]);
        check("@app.get('/x')", &[]);
        check("r.HandleFunc(\"/x\", h).Methods(\"DELETE\")", &["DELETE"]);
        check("@RequestMapping(value = \"/x\", method = RequestMethod.PATCH)", &["PATCH"]);
        check(".route(\"/x\", get(list).post(create))", &["GET", "POST"]);
        check(".route(\"/x\", axum::routing::put(target))", &["PUT"]);
        check("app.post('/x', handle)", &[]);
    }

    #[test]
    fn requests_fit_the_routes_that_they_mean() {
        let fit = |method: &str, route: &str, request: &str| {
            let route = HttpRoute { method: method.to_owned(), path: route.to_owned(), line: 1 };
            let (method, path) = request.split_once(' ').unwrap();
            fit_route(&route, &HttpRequest { method: method.to_owned(), path: path.to_owned(), line: 1 })
        };
        assert_eq!(fit("GET", "/users", "GET /users"), Some((true, 1)));
        assert_eq!(fit("GET", "/users", "POST /users"), None);
        assert_eq!(fit("", "/users", "POST /users"), Some((true, 1)));
        assert_eq!(fit("GET", "/users", " /users"), Some((true, 1)));
        assert_eq!(fit("GET", "/users/:id", "GET /users/1"), Some((true, 1)));
        assert_eq!(fit("GET", "/users/{id}", "GET /users/{}"), Some((true, 1)));
        assert_eq!(fit("GET", "/users/<int:id>/orders", "GET /api/users/1/orders"), Some((false, 2)));
        assert_eq!(fit("GET", "/:id", "GET /users"), Some((true, 0)));
        assert_eq!(fit("GET", "/:id", "GET /api/users"), None);
        assert_eq!(fit("GET", "/", "GET /"), Some((true, 0)));
        assert_eq!(fit("GET", "/", "GET /users"), None);
        assert_eq!(fit("GET", "/users/1", "GET /users"), None);
    }
}
