//! Finds and stores passwords for team servers in password files in the form of libpq.
//!
//! A file has lines `host:port:database:role:password`, where `*` means anything, and `\` escapes `:` and `\`:
//! <https://www.postgresql.org/docs/current/libpq-pgpass.html>.

use super::ServerAddress;

/// Returns the password in the first line of a password file that fits an address; `file` is the text of the file.
pub fn find_password(file: &str, address: &ServerAddress) -> Option<String> {
    let wanted =
        [address.host.clone(), address.port.to_string(), address.database.clone(), address.role.clone()];
    file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields: Vec<String> = split_fields(line);
        let [fit @ .., password] = fields.as_slice() else { return None };
        let fits = fit.len() == wanted.len()
            && fit.iter().zip(&wanted).all(|(has, wants)| has == "*" || has == wants);
        fits.then(|| password.clone())
    })
}

/// Returns the text of a password file with the password for an address in the first line, because the first line that fits counts.
/// `None` removes the password.
pub fn with_password(file: &str, address: &ServerAddress, password: Option<&str>) -> String {
    let ServerAddress { host, port, database, role, .. } = address;
    let port = port.to_string();
    let start: String = [host.as_str(), &port, database, role]
        .iter()
        .map(|field| format!("{}:", escape_field(field)))
        .collect();
    let others = file.lines().filter(|line| !line.starts_with(&start)).map(str::to_owned);
    let new = password.map(|password| format!("{start}{}", escape_field(password)));
    new.into_iter().chain(others).map(|line| line + "\n").collect()
}

/// Escapes a field for a password file.
fn escape_field(field: &str) -> String {
    field.replace('\\', "\\\\").replace(':', "\\:")
}

/// Splits a line of a password file into its fields, without their escapes.
fn split_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut chars = line.chars();
    while let Some(char) = chars.next() {
        let last = fields.last_mut().expect("there is one at the start");
        match char {
            '\\' => last.extend(chars.next()),
            ':' => fields.push(String::new()),
            _ => last.push(char),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_is_taken() {
        let address = ServerAddress::parse("postgres://ann@db.example.com/team").unwrap();
        let file = "# db.example.com:5432:team:ann:no\ndb.example.com:1:*:ann:no\n*:*:team:ann:a\\:b\\\\c\n*:*:*:*:last\n";
        assert_eq!(find_password(file, &address).as_deref(), Some("a:b\\c"));
        assert_eq!(find_password("*:*:*:bob:no\nbroken\n", &address), None);
    }

    #[test]
    fn a_password_is_replaced_and_removed() {
        let address = ServerAddress::parse("postgres://ann@localhost/team").unwrap();
        let file = with_password("*:*:*:bob:his\n", &address, Some("p:\\q"));
        assert_eq!(find_password(&file, &address).as_deref(), Some("p:\\q"));
        let file = with_password(&file, &address, Some("new"));
        assert_eq!((find_password(&file, &address).as_deref(), file.lines().count()), (Some("new"), 2));
        assert_eq!(with_password(&file, &address, None), "*:*:*:bob:his\n");
    }
}
