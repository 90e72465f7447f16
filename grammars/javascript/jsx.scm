; JSX elements, for JavaScript and TSX
(jsx_opening_element name: (identifier) @reference.call)
(jsx_opening_element name: (member_expression property: (property_identifier) @reference.call))
(jsx_self_closing_element name: (identifier) @reference.call)
(jsx_self_closing_element name: (member_expression property: (property_identifier) @reference.call))
