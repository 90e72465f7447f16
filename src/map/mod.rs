//! Which symbols fit the budget?
