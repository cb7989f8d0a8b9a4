package providers

import (
	"bytes"
	_ "embed"
	"encoding/gob"
	"sync"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// builtinTypes contains the types that BuiltinTypes returns, a []schema.TypeDef. The client
// library contains them as 18,000 lines of YAML. Reading these took half of the processor time of
// a small plan. `make golden` writes the file after an update of the library.
//
//go:embed builtintypes.gob
var builtinTypes []byte

func init() {
	// gob must know the types of the default values of fields.
	gob.Register(map[any]any{})
	gob.Register([]any{})
}

// BuiltinTypes returns the types of Kubernetes' own kinds, in the version of this program's
// client library.
var BuiltinTypes = sync.OnceValue(func() managedfields.TypeConverter {
	var types []schema.TypeDef
	if err := gob.NewDecoder(bytes.NewReader(builtinTypes)).Decode(&types); err != nil {
		panic(err) // a test reads the file
	}
	return managedfields.NewSchemeTypeConverter(scheme.Scheme, &typed.Parser{Schema: schema.Schema{Types: types}})
})
