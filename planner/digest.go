package planner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"kolla.openstack.org/kolla/providers"
)

// Digest names what a desired object asks of the cluster: the SHA-256, in
// hexadecimal, of its manifest and of how the values of a Secret come about. It is
// what state.Object.Desired holds. Values from sensitive variables are not part of
// it, so that nothing can be guessed from it.
func Digest(object *providers.Object) string {
	text, err := json.Marshal(struct {
		Manifest any
		Data     map[string]providers.SecretData
	}{object.Manifest.Object, object.Data})
	if err != nil {
		panic(fmt.Sprintf("planner: the manifest of %s is not JSON: %v", object.Address, err))
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
