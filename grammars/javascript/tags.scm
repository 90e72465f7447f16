; Only in JavaScript
(field_definition
  property: [(property_identifier) (private_property_identifier)] @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(field_definition property: (private_property_identifier) @name) @definition.constant
(field_definition "static" property: (property_identifier) @name) @definition.constant
(field_definition property: (property_identifier) @name) @definition.field
(class_heritage (identifier) @reference.type)
(class_heritage (member_expression property: (property_identifier) @reference.type))
