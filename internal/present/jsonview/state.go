package jsonview

import (
	"fmt"
	"io"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

// The state in the format of `terraform show -json`. Values of objects only identify them, because
// the state contains no other values.
type (
	wholeState struct {
		FormatVersion string       `json:"format_version"`
		KollaVersion  string       `json:"kolla_version"`
		Values        *stateValues `json:"values,omitempty"` // nil: nothing was ever applied
		Checks        []Check      `json:"checks,omitempty"`
		Kolla         *stateMore   `json:"kolla,omitempty"`
	}
	stateValues struct {
		Outputs map[string]Output  `json:"outputs"`
		Root    Module[recordJSON] `json:"root_module"`
	}
	recordJSON struct {
		Address   string         `json:"address"`
		Mode      string         `json:"mode"`
		Type      string         `json:"type"`
		Name      string         `json:"name"`
		Index     any            `json:"index,omitempty"` // key of the block, if it is repeated
		Provider  string         `json:"provider_name"`
		Schema    int            `json:"schema_version"`
		Values    map[string]any `json:"values"`
		Sensitive struct{}       `json:"sensitive_values"`
		DependsOn []string       `json:"depends_on,omitempty"`
		Kolla     recordMore     `json:"kolla"`
	}
	// stateMore and recordMore are kolla's additions to Terraform's format.
	stateMore struct {
		Cloud   string        `json:"cloud"`
		Cluster state.Cluster `json:"cluster"`
		Lineage string        `json:"lineage"`
		Serial  uint64        `json:"serial"`
	}
	recordMore struct {
		Ready   bool   `json:"ready"`
		Applied string `json:"applied"` // RFC 3339
		Family  string `json:"family,omitempty"`
		Partial bool   `json:"partial,omitempty"`
		Holds   string `json:"holds,omitempty"`
	}
)

// State writes a state. version is the version of kolla.
func State(w io.Writer, st *state.State, version string) error {
	out := wholeState{FormatVersion: "1.0", KollaVersion: version}
	if st.Lineage != "" {
		out.Kolla = &stateMore{Cloud: st.Cloud, Cluster: st.Cluster, Lineage: st.Lineage, Serial: st.Serial}
		out.Values = &stateValues{Outputs: Outputs(st.Outputs)}
		out.Checks = Checks(st.Checks)
		for _, o := range st.Objects {
			address, err := addrs.ParseObject(o.Address)
			if err != nil {
				return fmt.Errorf("read the state: %w", err)
			}
			out.Values.Root.Put(address.Block, recordOf(o, address))
		}
	}
	if err := foreign.JSON(w, out, ""); err != nil {
		return fmt.Errorf("write the state as JSON: %w", err)
	}
	return nil
}

func recordOf(o state.Object, address addrs.Object) recordJSON {
	metadata := map[string]any{"name": o.Name, "uid": o.UID}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	return recordJSON{
		Address: o.Address, Mode: "managed", Type: o.Kind, Name: o.Name, Provider: Provider,
		Index:     addrs.SplitBlock(address.Block).Key,
		Values:    map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": metadata},
		DependsOn: o.DependsOn,
		Kolla: recordMore{
			Ready: o.Ready, Applied: o.Applied.UTC().Format(time.RFC3339), Family: o.Family, Partial: o.Partial, Holds: o.Holds,
		},
	}
}
