package dryrun

import "testing"

func TestWrongTypesInWords(t *testing.T) {
	for message, want := range map[string]string{
		`.data.a: expected string, got &value.valueUnstructured{Value:1}`:                             `.data.a: expected a string, got the number 1`,
		`.spec.on: expected boolean, got &value.valueUnstructured{Value:"yes"}`:                       `.spec.on: expected a boolean, got the string "yes"`,
		`expected numeric (int or float), got &value.valueUnstructured{Value:true}`:                   `expected a number, got the boolean true`,
		`expected list, got &value.valueUnstructured{Value:map[string]interface {}{"a":"b"}}`:         `expected a list, got a map`,
		"expected map, got &value.valueUnstructured{Value:[]interface {}{\"x\"}}\nfield not declared": "expected a map, got a list\nfield not declared",
		`.spec.foo: field not declared in schema`:                                                     `.spec.foo: field not declared in schema`,
	} {
		if got := plainTypes(message); got != want {
			t.Errorf("%s\nis said as %s\nwant          %s", message, got, want)
		}
	}
}
