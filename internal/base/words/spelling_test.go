package words_test

import (
	"testing"

	"kolla.openstack.org/kolla/internal/base/words"
)

func TestDidYouMean(t *testing.T) {
	known := []string{"keystone", "memcached", "mariadb", "db1", "db2", "cache", "kvm", "pci_devices", "agent"}
	for given, want := range map[string]string{
		"keystne":     ` Did you mean "keystone"?`,
		"Keystone":    ` Did you mean "keystone"?`,
		"memcache":    ` Did you mean "memcached"?`,
		"maria":       ` Did you mean "mariadb"?`,
		"nova":        "",
		"memcach":     ` Did you mean "memcached"?`, // although "cache" is also known
		"cachefs1":    "",                           // it only contains a known word
		"cahce":       ` Did you mean "cache"?`,     // two letters are swapped
		"kmv":         ` Did you mean "kvm"?`,
		"gpu_devices": "", // the beginning differs
		"event":       "",
		"eystone":     ` Did you mean "keystone"?`,
		"db3":         "", // "db1" and "db2" are equally close
		"":            "",
		"keystone2":   ` Did you mean "keystone"?`,
	} {
		if got := words.DidYouMean(given, known); got != want {
			t.Errorf("%q: got %q, want %q", given, got, want)
		}
	}
}
