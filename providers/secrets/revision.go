package secrets

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// RevisionOf names the values of a live Secret without saying anything about
// them: the recorded revision, or, when somebody replaced the values since it was
// recorded, a new one. For values that are given rather than generated, given
// holds them, and the revision is a new one too when they differ from the live.
func RevisionOf(secret *unstructured.Unstructured, given map[string]string, live providers.Values) string {
	revision := secret.GetAnnotations()[providers.AnnotationRevision]
	values := providers.ValuesOf(secret)
	same := revision != "" && unchanged(secret, live)
	for key, value := range given {
		same = same && string(values[key]) == value
	}
	if same {
		return revision
	}
	return providers.Hash(secret.GetName(), string(secret.GetUID()), secret.GetResourceVersion())
}

// RenewedRevision names the values that are made in place of those of a revision.
func RenewedRevision(revision string) string { return providers.Hash(revision, "renewed") }

// Replaced reports whether somebody replaced the values of a live Secret since its
// revision was recorded.
func Replaced(secret *unstructured.Unstructured, live providers.Values) bool {
	return secret.GetAnnotations()[providers.AnnotationRevision] != "" && !unchanged(secret, live)
}

// FirstRevision names values that are still to be generated. before is different
// whenever values may have been made for the Secret since the last time, so that those
// made anew get another revision than the ones that were lost: what is derived from
// these may still be in the cluster.
func FirstRevision(address lang.Address, before string) string {
	return providers.Hash(address.String(), before)
}

// The checksums among the annotations of a cloud's Secrets are keyed with a random value
// in a Secret of the cloud, so that nobody who reads annotations, but no values, can try
// out what a short password gives.
const (
	checksumKey = "key" // in that Secret

	// PendingChecksum stands for a checksum in a plan, as long as there is no key.
	PendingChecksum = "pending"
)

// ChecksumSecret is the name of the Secret with the key for a cloud's checksums. No
// service can have such a name.
func ChecksumSecret(cloud string) string { return "checksum-key." + cloud }

// ChecksumData is how the key comes about.
func ChecksumData() map[string]providers.SecretData {
	const bytes = 32
	return map[string]providers.SecretData{checksumKey: {Generate: &providers.Generator{Kind: "hex", Length: bytes}}}
}

// keyFor is the key for the checksum of a Secret; nil: there is none yet.
func keyFor(secret *unstructured.Unstructured, live providers.Values) []byte {
	return live(secret.GetNamespace(), ChecksumSecret(secret.GetLabels()[providers.LabelCloud]))[checksumKey]
}

// checksum is made of values and their revision. It names the key, shortly, and the keys
// of the values: what others put into the Secret beside them is not kolla's.
func checksum(key []byte, revision string, values map[string][]byte) string {
	if key == nil {
		return PendingChecksum
	}
	names := slices.Sorted(maps.Keys(values))
	fields := []string{revision}
	for _, name := range names {
		fields = append(fields, name, string(values[name]))
	}
	return strings.Join([]string{keyName(key), authenticate(key, fields...), strings.Join(names, ",")}, " ")
}

// keyName tells keys apart.
func keyName(key []byte) string {
	const digits = 8
	return authenticate(key, "name of the key")[:digits]
}

func authenticate(key []byte, fields ...string) string {
	h := hmac.New(sha256.New, key)
	for _, field := range fields {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	const bytes = 16
	return hex.EncodeToString(h.Sum(nil)[:bytes])
}

// unchanged reports whether the values of a live Secret are those that its checksum was
// made of. With another key than that of today nobody can tell, and the answer is yes.
func unchanged(secret *unstructured.Unstructured, live providers.Values) bool {
	annotations := secret.GetAnnotations()
	revision, recorded := annotations[providers.AnnotationRevision], annotations[providers.AnnotationChecksum]
	fields := strings.Split(recorded, " ")
	names := fields[len(fields)-1]
	own, values := map[string][]byte{}, providers.ValuesOf(secret)
	for name := range strings.SplitSeq(names, ",") {
		if value, ok := values[name]; ok {
			own[name] = value
		}
	}
	const keyless = 2 // fields of a checksum as earlier versions made it
	if len(fields) == keyless {
		return recorded == keylessChecksum(revision, own)
	}
	key := keyFor(secret, live)
	if len(fields) > keyless && (key == nil || fields[0] != keyName(key)) {
		return true
	}
	return recorded == checksum(key, revision, own)
}

// keylessChecksum is what earlier versions recorded. The next apply records a keyed one.
func keylessChecksum(revision string, values map[string][]byte) string {
	fields := []string{revision}
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names {
		fields = append(fields, name, string(values[name]))
	}
	return providers.Hash(fields...) + " " + strings.Join(names, ",")
}
