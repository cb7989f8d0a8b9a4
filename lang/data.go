package lang

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// data evaluates an instance of a data block. It reads the objects from the cluster if that is
// possible now.
func data(a *assembly, u *graph.Use) cty.Value {
	b, e := u.Block, u.Env
	d := configs.Data{Block: u.Address(), Needs: graph.NeedsOf(u.Node.Reasons(u.Frame)), Range: b.Header}
	query, ok := blocks.DataQuery(e, b, a.config.Cloud.Namespace)
	d.DataQuery = query
	if b.Attributes["name"] == nil == (b.Attributes["labels"] == nil) {
		a.report.Error(b.Header, "One of name and labels", "data %q reads one object by its name, or all objects with some labels: give it one of the two arguments.", b.Label)
		return cty.DynamicVal
	}
	if eval.IsSet(e, b, "optional") && b.Attributes["labels"] != nil {
		eval.Unsuitable(e, b, "optional", "With labels there may be none anyway: data.%s.objects is empty then.", b.Label)
	}
	var value cty.Value
	switch {
	case !ok:
		return cty.DynamicVal
	case d.Deferred || blocks.DataWaits(e, b) || a.options.Later[d.Block]:
		d.Deferred = true
	default:
		value, d.Deferred, ok = read(a, d, b, e)
	}
	a.config.Data = append(a.config.Data, d)
	if !ok {
		return cty.DynamicVal
	}
	if d.Deferred {
		value = blocks.UnknownData(d, b, a.options.Read == nil)
	}
	if at, message := blocks.Postcondition(e, b, value); message != "" {
		if len(d.Needs) == 0 || a.options.Settled {
			a.report.Error(at, "Postcondition not met", "%s", message)
			return value
		}
		a.report.Alert(at, "Postcondition not met yet", "%s\n\nThe apply may change that, since it depends on %s: what was read is not used, and is read again then.", message, words.Sorted(d.Needs))
		a.config.Data[len(a.config.Data)-1].Deferred = true
		return blocks.UnknownData(d, b, false)
	}
	return value
}

// read reads the objects of a data block. It returns later = true if the apply may create them.
func read(a *assembly, d configs.Data, b *source.Block, e *eval.Env) (value cty.Value, later, ok bool) {
	if a.options.Read == nil {
		return cty.NilVal, true, true
	}
	found, err := a.options.Read(d.DataQuery)
	var failed *configs.ReadError
	switch missing := err == nil && len(found) == 0 && d.Name != ""; {
	case errors.As(err, &failed) && failed.NoKind && len(d.Needs) > 0, missing && len(d.Needs) > 0:
		return cty.NilVal, true, true
	case err != nil:
		a.report.Error(b.Header, fmt.Sprintf("Cannot read %s", d.Block), "%s: %s", d.DataQuery, err)
	case missing && !eval.Bool(e, b, "optional"):
		a.report.Error(b.Header, fmt.Sprintf("%s does not exist", d.DataQuery), "%s reads it. Correct its kind, name or namespace; say optional = true if it may be missing; or, if something in this configuration makes it, name that in depends_on.", d.Block)
	default:
		return blocks.ValueOfData(d, found), false, true
	}
	return cty.NilVal, false, false
}
