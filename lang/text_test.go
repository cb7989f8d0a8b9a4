package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/values"
)

func TestTextParts(t *testing.T) {
	ref := configs.SecretRef{Service: "s", Secret: "x", Key: "value"}
	text := configs.Text{{Literal: "a"}, {Secret: &ref}, {Literal: "b", Sensitive: true}}
	if got, want := text.Masked(), "a(sensitive)(sensitive)"; got != want {
		t.Errorf("masked %q, want %q", got, want)
	}
	if !text.Secret() || configs.Plain("a").Secret() || configs.Text(nil).Secret() {
		t.Error("Secret is wrong")
	}
	if diff := cmp.Diff([]configs.SecretRef{ref}, text.Refs()); diff != "" {
		t.Errorf("refs (-want +got):\n%s", diff)
	}
	if configs.Plain("") != nil {
		t.Error("an empty text has parts")
	}
	want := configs.Text{{Literal: "a"}, {Literal: ","}, {Secret: &ref}}
	if diff := cmp.Diff(want, configs.Join([]configs.Text{configs.Plain("a"), {{Secret: &ref}}}, ",")); diff != "" {
		t.Errorf("joined (-want +got):\n%s", diff)
	}
}

func TestTextOf(t *testing.T) {
	for _, value := range []cty.Value{cty.NullVal(cty.String), cty.DynamicVal, cty.EmptyObjectVal, cty.StringVal("\uefe0x"), cty.StringVal("x\uefe1")} {
		if got, err := values.TextOf(value); err == nil {
			t.Errorf("%#v: no error, but %v", value, got)
		}
	}
	got, err := values.TextOf(cty.NumberIntVal(3))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(configs.Plain("3"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
