; Definitions
(struct_item name: (type_identifier) @name) @definition.struct
(union_item name: (type_identifier) @name) @definition.struct
(enum_item name: (type_identifier) @name) @definition.enum
(trait_item name: (type_identifier) @name) @definition.trait
(type_item name: (type_identifier) @name) @definition.type
(associated_type name: (type_identifier) @name) @definition.type
(const_item name: (identifier) @name) @definition.constant
(static_item name: (identifier) @name) @definition.constant
(function_item name: (identifier) @name) @definition.function
(function_signature_item name: (identifier) @name) @definition.function
(macro_definition name: (identifier) @name) @definition.macro
(mod_item name: (identifier) @name body: (_)) @definition.module
(struct_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
(union_item body: (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))
(enum_variant name: (identifier) @name) @definition.field
(enum_variant name: (identifier) @owner
  body: (field_declaration_list (field_declaration name: (field_identifier) @name) @definition.field))

; An `impl` block is no definition, but the name of its type encloses those inside
(impl_item type: (_) @name) @scope

; Comments and attributes, which belong to the definition below them
[(line_comment) (block_comment)] @doc
(attribute_item) @attribute

; Uses
(call_expression function: (identifier) @reference.call)
(call_expression function: (scoped_identifier name: (identifier) @reference.call))
(call_expression function: (field_expression field: (field_identifier) @reference.call))
(generic_function function: (identifier) @reference.call)
(generic_function function: (scoped_identifier name: (identifier) @reference.call))
(generic_function function: (field_expression field: (field_identifier) @reference.call))
(macro_invocation macro: (identifier) @reference.macro)
(macro_invocation macro: (scoped_identifier name: (identifier) @reference.macro))
(scoped_identifier path: (identifier) @reference.type)
(type_identifier) @reference.type
(use_declaration argument: (scoped_identifier name: (identifier) @reference.import))
(use_list (identifier) @reference.import)
(use_list (scoped_identifier name: (identifier) @reference.import))
; The arguments of a macro are only tokens; a name before parentheses counts as a call
(token_tree (identifier) @reference.call . (token_tree))
