package words_test

import (
	"testing"

	"kolla.openstack.org/kolla/internal/base/words"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 pods", 1: "1 pod", 2: "2 pods"} {
		if got := words.Count(n, "pod"); got != want {
			t.Errorf("Count(%d) is %q, want %q", n, got, want)
		}
	}
}
