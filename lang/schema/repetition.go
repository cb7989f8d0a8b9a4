package schema

import (
	"slices"

	"kolla.openstack.org/kolla/lang/schema/forms"
)

// EnabledAttribute is an argument of every block of a definition.
var EnabledAttribute = Attribute{Name: "enabled", Type: TypeBool, Default: true, Doc: "Whether to create the block. With false, kolla does not need anything that only this block refers to, and leaves the block out of lists of names."}

// conditional adds EnabledAttribute to the arguments of a block.
func conditional(attributes []Attribute) []Attribute {
	return append(attributes[:len(attributes):len(attributes)], EnabledAttribute)
}

// Repetition are the arguments that set the number of instances of a block.
var Repetition = []Attribute{
	{Name: "for_each", Type: TypeAny, Value: "map or set of strings", Doc: "A map or a set of strings. kolla creates one instance of the block for each element, which the block reads as each.key and each.value. The address of an instance is NAME[\"KEY\"]."},
	{Name: "count", Type: TypeAny, Value: "whole number", Doc: "How many instances to create. The block reads the number of its instance as count.index. The addresses are NAME[0], NAME[1] and so on. It cannot be used together with for_each."},
	{Name: "enabled", Type: TypeBool, Default: true, Doc: "Whether to create the block."},
}

// NameAttribute is the name in the cluster. Each instance of a repeated block needs its own.
var NameAttribute = Attribute{Name: "name", Type: TypeString, Form: forms.Name, Doc: "Name in the cluster. By default it is the label, with a dash and the key for a repeated block."}

// withRepetition adds Repetition to the arguments of a block.
func withRepetition(attributes []Attribute) []Attribute { return slices.Concat(attributes, Repetition) }
