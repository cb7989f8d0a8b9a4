package secrets

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"slices"

	"golang.org/x/crypto/ssh"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// rsaBits is the size of RSA keys. It gives 128 bits of security; ssh-keygen uses it too.
const rsaBits = 3072

// isMadeTogether reports whether the value is made together with the other values of its
// Secret.
func isMadeTogether(d providers.SecretData) bool {
	return d.Generate != nil && slices.Contains([]string{"ssh", "x509-ca", "x509", providers.KindFernet}, d.Generate.Kind)
}

// makeTogether returns the values of the object that are made together; the apply will make missing
// ones. It keeps existing values if all of them exist and none must be renewed.
func makeTogether(o *providers.Object, own map[string][]byte, live providers.Values, generate bool) (map[string][]byte, error) {
	var g *providers.Generator
	complete := true
	for key, data := range o.Data {
		if isMadeTogether(data) {
			g = data.Generate
			complete = complete && own[key] != nil
		}
	}
	switch {
	case g == nil:
		return nil, nil
	case g.Kind == providers.KindFernet:
		return makeRepository(own, len(o.Data), g.Renew != "", generate), nil
	case complete && g.Renew == "":
		return own, nil
	case g.Kind == "ssh" && g.Renew == "":
		if pair := publicOf(own[configs.KeyPrivate]); pair != nil {
			return pair, nil
		}
	}
	switch {
	case !generate:
		return nil, nil
	case g.Kind == "ssh":
		return makeSSHPair(g.Algorithm)
	default:
		return makeCertificate(g, own, live)
	}
}

// publicOf adds the public key to a private key. It returns nil if it cannot read the private key.
func publicOf(private []byte) map[string][]byte {
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return nil
	}
	return map[string][]byte{
		configs.KeyPrivate: private,
		configs.KeyPublic:  ssh.MarshalAuthorizedKey(signer.PublicKey()),
	}
}

// makeSSHPair makes a key pair in the format of OpenSSH.
func makeSSHPair(algorithm string) (map[string][]byte, error) {
	key, err := makePrivateKey(algorithm)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		return nil, fmt.Errorf("encode the private key: %w", err)
	}
	pair := publicOf(pem.EncodeToMemory(block))
	if pair == nil {
		return nil, fmt.Errorf("the key that was made cannot be read")
	}
	return pair, nil
}

// makePrivateKey makes the private key of a pair.
func makePrivateKey(algorithm string) (crypto.Signer, error) {
	var (
		key crypto.Signer
		err error
	)
	switch algorithm {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, rsaBits)
	default:
		return nil, fmt.Errorf("no generator makes keys of the algorithm %q", algorithm)
	}
	if err != nil {
		return nil, fmt.Errorf("make a private key: %w", err)
	}
	return key, nil
}

// algorithmOf returns the algorithm of a public key, as providers.Generator names it.
func algorithmOf(key crypto.PublicKey) string {
	switch key.(type) {
	case ed25519.PublicKey:
		return "ed25519"
	case *ecdsa.PublicKey:
		return "ecdsa"
	case *rsa.PublicKey:
		return "rsa"
	}
	return ""
}
