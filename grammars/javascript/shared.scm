; Common to JavaScript, TypeScript and TSX

; Definitions; if two patterns tag the same node, the first pattern decides the kind
(class_declaration name: (_) @name) @definition.class
(variable_declarator name: (identifier) @name value: (class)) @definition.class
(function_declaration name: (identifier) @name) @definition.function
(generator_function_declaration name: (identifier) @name) @definition.function
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function
;   functions of an object: more than two levels deep, they are no definitions; on the second level, the key around names them
(pair value: (object (pair value: (object [
  (method_definition name: (_) @name)
  (pair key: (_) @name value: [(arrow_function) (function_expression) (generator_function)])
] @definition.skipped))))
(pair key: (property_identifier) @owner value: (object [
  (method_definition name: [(property_identifier) (private_property_identifier)] @name)
  (pair key: (property_identifier) @name value: [
    (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)
  ])
] @definition.method))
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @definition.method
(pair key: (property_identifier) @name value: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)
]) @definition.method
((pair key: (string (string_fragment) @name) value: [
  (arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)
]) @definition.method (#match? @name "^[A-Za-z_$][A-Za-z0-9_$]*$"))
(expression_statement
  (assignment_expression
    left: (member_expression) @name
    right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
;   what has no name but that of its export: `export default () => {}`, `module.exports = class {}`
(export_statement "default" @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])
  @definition.function
(export_statement "default" @name value: (class body: (_) @body)) @definition.class
(export_statement "default" @name value: [(object) (call_expression)]) @definition.constant
(expression_statement (assignment_expression left: (member_expression) right: (class name: (_) @name))) @definition.class
((program [
  (lexical_declaration (variable_declarator name: (identifier) @name value: (_) @value) @definition.constant)
  (variable_declaration (variable_declarator name: (identifier) @name value: (_) @value) @definition.constant)
]) (#not-match? @value "^require\\b"))
(export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(export_statement (variable_declaration (variable_declarator name: (identifier) @name) @definition.constant))
(expression_statement (assignment_expression
  left: (member_expression object: (this) @owner property: (property_identifier) @name)) @definition.field)

; Statements around a definition, which belong to it
[(export_statement) (lexical_declaration) (variable_declaration)] @wrapper
(comment) @doc
(decorator) @attribute

; Uses
(call_expression function: (identifier) @reference.call)
(call_expression function: (member_expression
  property: [(property_identifier) (private_property_identifier)] @reference.call))
(new_expression constructor: (identifier) @reference.type)
(new_expression constructor: (member_expression property: (property_identifier) @reference.type))
(decorator (identifier) @reference.call)
(import_specifier name: (identifier) @reference.import)
(import_clause (identifier) @reference.import)
