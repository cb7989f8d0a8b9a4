package providers_test

import (
	"testing"

	"kolla.openstack.org/kolla/providers"
)

func TestSplitImage(t *testing.T) {
	for reference, want := range map[string]struct {
		providers.ImageReference
		name, tagged string
	}{
		"quay.io/kolla/keystone:1":                {providers.ImageReference{"quay.io/kolla/keystone", "1", ""}, "keystone", "quay.io/kolla/keystone:1"},
		"quay.io/kolla/keystone":                  {providers.ImageReference{"quay.io/kolla/keystone", "", ""}, "keystone", "quay.io/kolla/keystone"},
		"localhost:5000/keystone":                 {providers.ImageReference{"localhost:5000/keystone", "", ""}, "keystone", "localhost:5000/keystone"},
		"[::1]:5000/keystone:1":                   {providers.ImageReference{"[::1]:5000/keystone", "1", ""}, "keystone", "[::1]:5000/keystone:1"},
		"localhost:5000/keystone@sha256:4f1c":     {providers.ImageReference{"localhost:5000/keystone", "", "sha256:4f1c"}, "keystone", "localhost:5000/keystone"},
		"localhost:5000/a/keystone:1@sha256:4f1c": {providers.ImageReference{"localhost:5000/a/keystone", "1", "sha256:4f1c"}, "keystone", "localhost:5000/a/keystone:1"},
		"keystone":             {providers.ImageReference{"keystone", "", ""}, "keystone", "keystone"},
		"keystone:1":           {providers.ImageReference{"keystone", "1", ""}, "keystone", "keystone:1"},
		"keystone@sha256:4f1c": {providers.ImageReference{"keystone", "", "sha256:4f1c"}, "keystone", "keystone"},
		"":                     {},
	} {
		got := providers.SplitImage(reference)
		if got != want.ImageReference || got.Name() != want.name || got.Tagged() != want.tagged {
			t.Errorf("%q: got %+v, %q, %q", reference, got, got.Name(), got.Tagged())
		}
	}
	if got := providers.SplitImage("localhost:5000/keystone:1@sha256:4f1c").Pinned(); got != "localhost:5000/keystone@sha256:4f1c" {
		t.Errorf("pinned: got %q", got)
	}
}
