package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// document is the stored form of a state: its members and a checksum.
type document struct {
	State
	Checksum string `json:"checksum"`
}

// Encode returns the stored form of the state: indented JSON with objects sorted by
// address. The same state gives the same bytes. The member "checksum" is "sha256:" and
// the SHA-256 of all other members, written with sorted keys and without white space, so
// reformatting does not invalidate it. To compute it:
//
//	jq -cSj 'del(.checksum)' kolla.state.json | sha256sum
func (s *State) Encode() ([]byte, error) {
	doc := document{State: *s}
	doc.Format = Format
	doc.Objects = slices.Clone(s.Objects)
	if doc.Objects == nil {
		doc.Objects = []Object{}
	}
	sortObjects(doc.Objects)
	raw, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}
	if doc.Checksum, err = checksum(raw); err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(doc); err != nil {
		return nil, fmt.Errorf("encode the state: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads the stored form of a state. file is its name in errors. The error is a
// *NewerFormatError or a *DamagedError.
func Decode(file string, raw []byte) (*State, error) {
	damaged := func(problem string) (*State, error) {
		return nil, &DamagedError{File: file, Problem: problem}
	}
	var head struct {
		Format   int    `json:"format"`
		Tool     string `json:"tool"`
		Checksum string `json:"checksum"`
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return damaged("it is empty")
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return damaged("it is not a whole JSON document: " + err.Error())
	}
	if head.Format > Format {
		return nil, &NewerFormatError{File: file, Format: head.Format, Tool: head.Tool}
	}
	if head.Format < 1 {
		return damaged("it has no format number, so it is not a state")
	}
	sum, err := checksum(raw)
	if err != nil {
		return damaged(err.Error())
	}
	if sum != head.Checksum {
		return damaged("its checksum is wrong, so it was edited by hand or is not whole")
	}
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return damaged(err.Error())
	}
	sortObjects(doc.Objects)
	for i, o := range doc.Objects {
		if o.Address == "" {
			return damaged("it has an object without an address")
		}
		if i > 0 && doc.Objects[i-1].Address == o.Address {
			return damaged("it has two objects with the address " + o.Address)
		}
	}
	return &doc.State, nil
}

// checksum computes the checksum of a stored state.
func checksum(raw []byte) (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber() // a serial may be larger than a float64 holds
	var members map[string]any
	if err := decoder.Decode(&members); err != nil {
		return "", err
	}
	delete(members, "checksum")
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(members); err != nil {
		return "", err
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func sortObjects(objects []Object) {
	slices.SortStableFunc(objects, func(a, b Object) int { return strings.Compare(a.Address, b.Address) })
}
