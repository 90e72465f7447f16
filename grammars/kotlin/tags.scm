; Definitions; if two patterns tag the same node, the first pattern decides the kind
(class_declaration "interface" name: (identifier) @name) @definition.interface
(class_declaration (modifiers (class_modifier "enum")) name: (identifier) @name) @definition.enum
(class_declaration name: (identifier) @name) @definition.class
(object_declaration name: (identifier) @name) @definition.class
(companion_object name: (identifier) @name) @definition.class
(function_declaration (user_type (identifier) @owner) "." name: (identifier) @name) @definition.function
(function_declaration name: (identifier) @name) @definition.function
(type_alias type: (identifier) @name) @definition.type
(source_file (property_declaration (variable_declaration (identifier) @name)) @definition.constant)
(class_body (property_declaration (variable_declaration (identifier) @name)) @definition.constant)
(class_parameter ["val" "var"] (identifier) @name) @definition.field
(enum_entry (identifier) @name) @definition.field

[(line_comment) (block_comment)] @doc

; Uses
(call_expression . (identifier) @reference.call)
(call_expression . (navigation_expression (identifier) @reference.call .))
(navigation_expression . (identifier) @reference.type (#match? @reference.type "^[A-Z]"))
(user_type (identifier) @reference.type)
