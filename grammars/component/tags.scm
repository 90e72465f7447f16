; Additions of components to TypeScript: the properties that a component takes, as names of a pattern
((variable_declarator
  name: (object_pattern [
    (shorthand_property_identifier_pattern) @name
    (object_assignment_pattern left: (shorthand_property_identifier_pattern) @name)
    (pair_pattern value: [(identifier) @name (assignment_pattern left: (identifier) @name)])
  ])
  value: (_) @value) @definition.constant
  (#match? @value "^(\\$props|defineProps|withDefaults|Astro\\.props)\\b"))
