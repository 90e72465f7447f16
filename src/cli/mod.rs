//! What may the user ask, and how is it shown?
