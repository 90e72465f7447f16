; Additions of C++ to C

; Definitions
(class_specifier name: (_) @name body: (_)) @definition.class
(struct_specifier name: (template_type) @name body: (_)) @definition.struct
(namespace_definition name: (_) @name body: (_)) @definition.module
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.type

; Methods: with a plain name inside of the class, with a qualified name outside
(function_definition declarator: (function_declarator
  declarator: [(field_identifier) (destructor_name) (operator_name) (qualified_identifier)] @name)) @definition.function
(function_definition declarator: (pointer_declarator declarator: (function_declarator
  declarator: [(field_identifier) (operator_name) (qualified_identifier)] @name))) @definition.function
(function_definition declarator: (reference_declarator (function_declarator
  declarator: [(identifier) (field_identifier) (operator_name) (qualified_identifier)] @name))) @definition.function
(field_declaration declarator: (function_declarator
  declarator: [(field_identifier) (operator_name)] @name)) @definition.method
(field_declaration declarator: (pointer_declarator
  declarator: (function_declarator declarator: (field_identifier) @name))) @definition.method
(field_declaration declarator: (reference_declarator
  (function_declarator declarator: [(field_identifier) (operator_name)] @name))) @definition.method
(declaration_list (declaration declarator: (init_declarator declarator: (identifier) @name)) @definition.constant)

; Statements around a definition, which belong to it
[(template_declaration) (field_declaration) (linkage_specification) (declaration)] @wrapper

; Uses
(call_expression function: (qualified_identifier name: (identifier) @reference.call))
(call_expression function: (qualified_identifier name: (qualified_identifier name: (identifier) @reference.call)))
(call_expression function: (template_function name: (identifier) @reference.call))
(qualified_identifier scope: (namespace_identifier) @reference.type)
