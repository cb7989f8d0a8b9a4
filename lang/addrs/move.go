package addrs

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Move says that the objects of From are declared as To now.
type Move struct {
	From, To Target // both blocks, or both objects
	Range    hcl.Range
}

// ApplyMoves returns the address that an object has after all moves about it, one after the other.
func ApplyMoves(moves []Move, o Object) Object {
	for range moves {
		i := slices.IndexFunc(moves, func(m Move) bool {
			_, applies := m.Apply(o)
			return applies
		})
		if i < 0 {
			break
		}
		o, _ = moves[i].Apply(o)
	}
	return o
}

// Apply returns the address that an object has after the move, and whether the move is about
// the object. An object of a block without a key can get a key.
func (m Move) Apply(o Object) (moved Object, ok bool) {
	if !m.From.Has(o) {
		return o, false
	}
	if !m.From.Whole() {
		return m.To.Object, true
	}
	rest := strings.TrimPrefix(o.Block, m.From.Block)
	if strings.HasPrefix(rest, "[") && m.To.Keyed() {
		return o, false // another instance
	}
	o.Block = m.To.Block + rest
	return o, true
}

// Removal says that From was taken out of the configuration on purpose, and whether its
// objects are deleted from the cluster.
type Removal struct {
	From    Target
	Destroy bool
	// Data says which objects with data may be deleted.
	Data  Data
	Range hcl.Range
}

// Data names data that may be deleted. The zero value is invalid.
type Data string

// The data that a removed block may name.
const (
	NoData        Data = "none"
	GeneratedData Data = "generated" // values that kolla generated: passwords and keys
	AllData       Data = "all"
)

// Import takes over an object that exists in the cluster.
type Import struct {
	To    Object
	ID    string // NAMESPACE/NAME, or NAME for a cluster-scoped object
	Range hcl.Range
}
