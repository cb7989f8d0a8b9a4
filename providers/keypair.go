package providers

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

	"kolla.openstack.org/kolla/lang"
)

// rsaBits is the size of RSA keys: 128 bits of security, as ssh-keygen makes them.
const rsaBits = 3072

// together reports whether the value is made together with the other ones of its
// Secret.
func (d SecretData) together() bool {
	return d.Generate != nil && slices.Contains([]string{"ssh", "x509-ca", "x509"}, d.Generate.Kind)
}

// together are the values of the object that are made together; nil: they are made at
// apply. They are kept if all are there and none is to be renewed.
func (o *Object) together(own map[string][]byte, live Values, generate bool) (map[string][]byte, error) {
	var g *Generator
	complete := true
	for key, data := range o.Data {
		if data.together() {
			g = data.Generate
			complete = complete && own[key] != nil
		}
	}
	switch {
	case g == nil:
		return nil, nil
	case complete && g.Renew == "":
		return own, nil
	case g.Kind == "ssh":
		if pair := publicOf(own[lang.KeyPrivate]); pair != nil {
			return pair, nil
		}
	}
	switch {
	case !generate:
		return nil, nil
	case g.Kind == "ssh":
		return g.sshPair()
	default:
		return g.certificate(own, live)
	}
}

// publicOf completes a key pair from its private key; nil if that is none.
func publicOf(private []byte) map[string][]byte {
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return nil
	}
	return map[string][]byte{
		lang.KeyPrivate: private,
		lang.KeyPublic:  ssh.MarshalAuthorizedKey(signer.PublicKey()),
	}
}

// sshPair makes a key pair in the format of OpenSSH.
func (g *Generator) sshPair() (map[string][]byte, error) {
	key, err := g.privateKey()
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

// privateKey makes the private key of a pair.
func (g *Generator) privateKey() (crypto.Signer, error) {
	var (
		key crypto.Signer
		err error
	)
	switch g.Algorithm {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, rsaBits)
	default:
		return nil, fmt.Errorf("no generator makes keys of the algorithm %q", g.Algorithm)
	}
	if err != nil {
		return nil, fmt.Errorf("make a private key: %w", err)
	}
	return key, nil
}

// algorithmOf is the algorithm of a public key, as Generator has it.
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
