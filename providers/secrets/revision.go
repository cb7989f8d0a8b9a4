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

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// RevisionOf returns the revision of a live Secret: a name for its values that does not reveal
// them. It is the recorded revision, or a new one if the values have been replaced since. given
// has the values that kolla does not generate. If they differ from the live values, the
// revision is new too.
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

// RenewedRevision returns the revision of the renewed values, from the revision of the old
// ones.
func RenewedRevision(revision string) string { return providers.Hash(revision, "renewed") }

// Replaced reports whether the values of a live Secret were replaced since its revision was
// recorded.
func Replaced(secret *unstructured.Unstructured, live providers.Values) bool {
	return secret.GetAnnotations()[providers.AnnotationRevision] != "" && !unchanged(secret, live)
}

// FirstRevision returns the revision of values that are not generated yet. before changes
// whenever values may have been made for the Secret. So new values get another revision than
// lost ones, from which Secrets in the cluster may still be derived.
func FirstRevision(address addrs.Object, before string) string {
	return providers.Hash(address.String(), before)
}

// The checksums in the annotations of a cloud's Secrets are keyed with a random value. The key
// is in a Secret of the cloud. So users who can read annotations, but no Secrets, cannot guess
// a short password.
const (
	checksumKey = "key" // in that Secret

	// PendingChecksum replaces a checksum in a plan while no key exists.
	PendingChecksum = "pending"
)

// ChecksumSecret returns the name of the Secret with the key for a cloud's checksums. No
// service can have such a name.
func ChecksumSecret(cloud string) string { return "checksum-key." + cloud }

// ChecksumData describes how the key is generated.
func ChecksumData() map[string]providers.SecretData {
	const bytes = 32
	return map[string]providers.SecretData{checksumKey: {Generate: &providers.Generator{Kind: "hex", Length: bytes}}}
}

// keyFor returns the key for the checksum of a Secret; nil: no key exists yet.
func keyFor(secret *unstructured.Unstructured, live providers.Values) []byte {
	return live(secret.GetNamespace(), ChecksumSecret(secret.GetLabels()[providers.LabelCloud]))[checksumKey]
}

// checksum authenticates values and their revision. It contains a short name of the key, and
// the keys of the values, because other programs may add values to the Secret.
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

// keyName returns a short name that distinguishes keys.
func keyName(key []byte) string {
	const digits = 8
	return authenticate(key, "name of the key")[:digits]
}

// authenticate returns a message authentication code of the fields and their boundaries.
func authenticate(key []byte, fields ...string) string {
	h := hmac.New(sha256.New, key)
	for _, field := range fields {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	const bytes = 16
	return hex.EncodeToString(h.Sum(nil)[:bytes])
}

// unchanged reports whether the values of a live Secret match its checksum. It returns true if
// the checksum was made with another key than the current one.
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
	const keyless = 2 // number of fields in a checksum of earlier versions
	if len(fields) == keyless {
		return recorded == keylessChecksum(revision, own)
	}
	key := keyFor(secret, live)
	if len(fields) > keyless && (key == nil || fields[0] != keyName(key)) {
		return true
	}
	return recorded == checksum(key, revision, own)
}

// keylessChecksum returns the checksum that earlier versions recorded. The next apply
// records a keyed one.
func keylessChecksum(revision string, values map[string][]byte) string {
	fields := []string{revision}
	names := slices.Sorted(maps.Keys(values))
	for _, name := range names {
		fields = append(fields, name, string(values[name]))
	}
	return providers.Hash(fields...) + " " + strings.Join(names, ",")
}
