package lang

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/mark"
)

// Certificates and public keys are made with secrets, and are none. Expressions read
// them as those, so that a service that uses one need not wait for it; nonsensitive gives
// them as what they are: read from the cluster, as by a data block.

// errPrivate says what of secrets can be shown.
var errPrivate = errors.New("the value of a secret is never shown, only what is public of it: a certificate, or a public key")

// publicPart reads a public part of a secret from the cluster.
func (g *graph) publicPart(made mark.Generated) (cty.Value, error) {
	ref := configs.SecretRef(made)
	if !ref.Public() {
		return cty.DynamicVal, errPrivate
	}
	if cloud := g.nodes["cloud"]; cloud != nil {
		g.demandOne(cloud, nil, hcl.Range{}) // for the namespace
	}
	owner := g.claimed["secret."+ref.Secret]
	at := owner.address
	if ref.Service != "" {
		owner = g.claimed["service."+ref.Service]
		at = owner.address + "/Secret/" + ref.Object()
	}
	d := configs.Data{
		Block:     at,
		DataQuery: configs.DataQuery{APIVersion: "v1", Kind: "Secret", Namespace: g.config.Cloud.Namespace, Name: ref.Object()},
		Needs:     []string{owner.address},
		Range:     owner.at,
	}
	var value string
	if g.options.Read != nil && !g.options.Later[d.Block] {
		found, err := g.options.Read(d.DataQuery)
		if err != nil {
			return cty.DynamicVal, fmt.Errorf("%s cannot be read: %w", d.DataQuery, err)
		}
		for _, object := range found {
			data, _ := object["data"].(map[string]any)
			encoded, _ := data[ref.Key].(string)
			decoded, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				return cty.DynamicVal, fmt.Errorf("%s has no text under %q", d.DataQuery, ref.Key)
			}
			value = string(decoded)
		}
	}
	d.Deferred = value == ""
	g.noteRead(d)
	if d.Deferred {
		return cty.UnknownVal(cty.String).Mark(mark.Deferred{By: d.Block, After: d.Block, Offline: g.options.Read == nil}), nil
	}
	return cty.StringVal(value), nil
}

// noteRead takes note of what was read, once.
func (g *graph) noteRead(d configs.Data) {
	for i := range g.config.Data {
		if known := &g.config.Data[i]; known.Block == d.Block {
			known.Deferred = known.Deferred || d.Deferred
			return
		}
	}
	g.config.Data = append(g.config.Data, d)
}
