package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"kolla.openstack.org/kolla/providers"
)

// alphabet contains the characters of passwords. All are safe in URLs, INI files, SQL
// strings and shells.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// generateValue makes a random value.
func generateValue(g *providers.Generator) ([]byte, error) {
	switch g.Kind {
	case "password":
		return password(g.Length)
	case "hex":
		raw := make([]byte, g.Length)
		rand.Read(raw)
		return hex.AppendEncode(nil, raw), nil
	case "base64":
		return random(g.Length), nil
	case "uuid":
		return []byte(uuid.NewString()), nil
	}
	return nil, fmt.Errorf("no generator makes a secret of kind %q", g.Kind)
}

// random returns random bytes in URL-safe base64.
func random(length int) []byte {
	raw := make([]byte, length)
	rand.Read(raw)
	return base64.URLEncoding.AppendEncode(nil, raw)
}

// password returns random characters of the alphabet.
func password(length int) ([]byte, error) {
	out := make([]byte, length)
	for i := range out {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(alphabet))))
		if err != nil {
			return nil, fmt.Errorf("read random numbers: %w", err)
		}
		out[i] = alphabet[n.Int64()]
	}
	return out, nil
}
