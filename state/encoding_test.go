package state_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/state"
)

func sample() *state.State {
	applied := time.Date(2026, 11, 21, 2, 11, 5, 0, time.UTC)
	return &state.State{
		Format:  state.Format,
		Serial:  41,
		Lineage: "6a6c1f8e-7f0c-4a60-9a0e-3a3d8bb1b0a5",
		Tool:    "1.0.0",
		Cloud:   "prod",
		Cluster: state.Cluster{UID: "8f9f4a0e-1f6e-4b3c-9d4f-0a4f3b7f2c11", Server: "https://10.0.0.10:6443"},
		Objects: []state.Object{
			{
				Address: "role.control/Node/ctl-1", APIVersion: "v1", Kind: "Node", Name: "ctl-1",
				UID: "4f0c2c0e-53a1-4d6c-8c53-7f7f7d2d9f10", Partial: true, DesiredDigest: "ab12", Ready: true, Applied: applied,
			},
			{
				Address: "service.redis/Deployment/redis", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "openstack", Name: "redis",
				UID: "0f6a1c52-5d3f-4c39-a1c7-2f3d8e1b7a90", Carried: "GTD2ZJAYPMSA5ZD23DC2UZJ4PQ", DesiredDigest: "cd34", RunDigest: "90ab", Ready: true, Applied: applied,
				Fingerprint: state.Fingerprint{Owned: "ef56", Server: "v1.37.1", Admission: "0789", Stamp: "2026-11-21T02:11:00Z"},
			},
			{
				Address: `service.redis["<a&b>"]/Secret/redis-a`, APIVersion: "v1", Kind: "Secret", Namespace: "openstack", Name: "redis-a",
				Family: "service.redis/Secret/redis", DependsOn: []string{"cloud.prod/Namespace/openstack"}, Holds: "generated values",
			},
		},
		Plans: []string{"0c9f5c9a-2b7c-4a51-8f44-0d7b7f0f6c9e"},
		History: []state.Apply{
			{
				ID: "3b1f6f0e-5b0e-4a53-9c53-0f6f1c1b9d11", Operation: "apply", Who: "ann@ops", Tool: "1.0.0", Began: applied,
				Commit: "e701314f9c6a0c4f0e6b7f1d2a3b4c5d6e7f8091", Changed: true, Result: state.Failed, Ended: applied.Add(time.Minute),
				Added: 3, Updated: 1, Destroyed: 2, Blocks: []string{"cloud.prod", `service.redis["a"]`},
			},
			{ID: "a51c2f5e-4a0f-4f1e-8a46-2f5f0a1f7c22", Operation: "destroy", Who: "ann@ops", Tool: "1.0.0", Began: applied},
		},
	}
}

func TestGoldenRoundTrip(t *testing.T) {
	file := filepath.Join("testdata", "state.json")
	unsorted := sample()
	unsorted.Objects[0], unsorted.Objects[1] = unsorted.Objects[1], unsorted.Objects[0]
	encoded, err := unsorted.Encode()
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, file, encoded)
	decoded, err := state.Decode(file, encoded)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sample(), decoded); diff != "" {
		t.Errorf("decoding (-want +got):\n%s", diff)
	}
}

// TestChecksumIsThatOfTheDocumentation checks that anybody can compute the checksum as documented:
// from the file without its checksum, with sorted keys and no white space, as jq prints it.
func TestChecksumIsThatOfTheDocumentation(t *testing.T) {
	stored, err := os.ReadFile(filepath.Join("testdata", "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var content map[string]any
	decoder := json.NewDecoder(bytes.NewReader(stored))
	decoder.UseNumber()
	if err := decoder.Decode(&content); err != nil {
		t.Fatal(err)
	}
	delete(content, "checksum")
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(content); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(bytes.TrimSuffix(plain.Bytes(), []byte("\n"))))
	if !bytes.Contains(stored, []byte(`"checksum": "sha256:`+sum+`"`)) {
		t.Errorf("the checksum should be %s, which is not in the file", sum)
	}
}

func TestWhiteSpaceDoesNotCount(t *testing.T) {
	encoded, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.ReplaceAll(encoded, []byte("\n  "), []byte("\r\n\t"))
	if _, err := state.Decode("state", other); err != nil {
		t.Error(err)
	}
}

func TestSerialsLargerThanFloats(t *testing.T) {
	large := sample()
	large.Serial = math.MaxUint64
	encoded, err := large.Encode()
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := state.Decode("state", encoded)
	if err != nil {
		t.Fatal(err)
	}
	if decoded.Serial != large.Serial {
		t.Errorf("got serial %d, want %d", decoded.Serial, large.Serial)
	}
}

func TestDecodeRefuses(t *testing.T) {
	encoded, err := sample().Encode()
	if err != nil {
		t.Fatal(err)
	}
	twice := sample()
	twice.Objects[1].Address = twice.Objects[0].Address
	encodedTwice, err := twice.Encode()
	if err != nil {
		t.Fatal(err)
	}
	nameless := sample()
	nameless.Objects[1].Address = ""
	encodedNameless, err := nameless.Encode()
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		raw  []byte
		want string
	}{
		"empty":           {nil, "it is empty"},
		"white space":     {[]byte(" \n"), "it is empty"},
		"torn":            {encoded[:len(encoded)/2], "it is not a whole JSON document"},
		"something after": {append(bytes.Clone(encoded), encoded...), "it is not a whole JSON document"},
		"another file":    {[]byte(`{"kind": "ConfigMap"}`), "it has no format number"},
		"edited":          {bytes.Replace(encoded, []byte(`"ready": true`), []byte(`"ready": false`), 1), "its checksum is wrong"},
		"address twice":   {encodedTwice, "it has two objects with the address role.control/Node/ctl-1"},
		"no address":      {encodedNameless, "it has an object without an address"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := state.Decode("kolla.state.json", test.raw)
			var damaged *state.DamagedError
			if !errors.As(err, &damaged) {
				t.Fatalf("got %v, want damage", err)
			}
			if !strings.Contains(err.Error(), "kolla.state.json cannot be used: "+test.want) {
				t.Errorf("got %q, want it to say %q", err, test.want)
			}
		})
	}
}

// TestFileOfThePast checks that a state from before objects had fingerprints is read, and written
// back unchanged.
func TestFileOfThePast(t *testing.T) {
	file := filepath.Join("testdata", "state-1.0.json")
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	past, err := state.Decode(file, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range past.Objects {
		if o.Fingerprint != (state.Fingerprint{}) {
			t.Errorf("%s has a check", o.Address)
		}
	}
	encoded, err := past.Encode()
	if err != nil || !bytes.Equal(encoded, stored) {
		t.Errorf("got %v (-stored +encoded):\n%s", err, cmp.Diff(string(stored), string(encoded)))
	}
}

func TestFileOfTheFuture(t *testing.T) {
	file := filepath.Join("testdata", "future.json")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = state.Decode(file, raw)
	want := &state.NewerFormatError{File: file, Format: 7, Tool: "4.2.0"}
	if diff := cmp.Diff(error(want), err); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	store := state.Open(file)
	if _, err := store.Read(); err == nil || err.Error() != want.Error() {
		t.Errorf("store: got %v, want %v", err, want)
	}
}

func TestCheckCluster(t *testing.T) {
	here := state.Cluster{UID: "a", Server: "https://a"}
	for name, test := range map[string]struct {
		state   state.Cluster
		refused bool
	}{
		"never written": {state.Cluster{}, false},
		"same":          {here, false},
		"moved":         {state.Cluster{UID: "a", Server: "https://old"}, false},
		"another":       {state.Cluster{UID: "b", Server: "https://a"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&state.State{Cluster: test.state}).CheckCluster(here.UID, here.Server)
			var other *state.ClusterError
			if errors.As(err, &other) != test.refused {
				t.Errorf("got %v, want a refusal: %v", err, test.refused)
			}
		})
	}
}
