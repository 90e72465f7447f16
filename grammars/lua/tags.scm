; Definitions
(function_declaration name: (_) @name) @definition.function
(assignment_statement
  (variable_list . name: (_) @name)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @definition.function
(chunk (variable_declaration (assignment_statement
  (variable_list name: (identifier) @name)
  (expression_list . value: (_) @value)) (#not-match? @value "^require\\b")) @definition.constant)
(chunk (assignment_statement (variable_list name: (identifier) @name)) @definition.constant)

; The keyword `local` belongs to the definition
(variable_declaration) @wrapper
(comment) @doc

; Uses
(function_call name: (identifier) @reference.call)
(function_call name: (dot_index_expression field: (identifier) @reference.call))
(function_call name: (method_index_expression method: (identifier) @reference.call))
