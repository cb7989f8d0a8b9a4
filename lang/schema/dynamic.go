package schema

// dynamicType is a block that stands for any number of blocks of another type: its
// label names the type, and its only block holds what each of them holds.
var DynamicType = &BlockType{
	Name: "dynamic", Label: "block type",
	Doc: "Stands inside of another block for blocks of the type that the label names, one for each element of for_each. Expressions in content read the element as TYPE.key and TYPE.value.",
	Example: `locals {
  debugged = { "keystone.conf" = "DEBUG" }
}

service "keystone" {
  dynamic "config" {
    for_each = local.debugged
    iterator = file
    labels   = [file.key]

    content {
      values = { DEFAULT = { default_log_levels = "keystone=${file.value}" } }
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "for_each", Type: TypeAny, Value: "list, set or map", Required: true, Doc: "A list, set, map or object."},
		{Name: "iterator", Type: TypeReferences, Value: "name without quotes", Doc: "Name for the element, in place of the type of the block."},
		{Name: "labels", Type: TypeList, Doc: "Label of each block, as a list of one, for types that have a label."},
	},
	Blocks: []*BlockType{{Name: "content", Single: true, Doc: "What stands in each of the blocks."}},
}

// growing are the types of blocks that a dynamic block can stand for.
func (t *BlockType) DynamicNames() []string {
	var out []string
	for _, b := range t.Blocks {
		if t.Name != "" && !b.IsStatic() {
			out = append(out, b.Name)
		}
	}
	return out
}

// isWritten reports whether blocks of the type are written out, and not computed.
func (t *BlockType) IsStatic() bool {
	return t.Name == LifecycleType.Name || t == InputType || t == OwnLocalsType
}
