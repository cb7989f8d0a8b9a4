package pods

import (
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// madeQueue evaluates a makes_queue block. It returns nil if a value is not known yet, or wrong.
func madeQueue(e *eval.Env, b *source.Block) *configs.MadeQueue {
	if waits(e, b) {
		return nil
	}
	server, ok := podServer(e, b)
	q := &configs.MadeQueue{Server: server, Name: eval.String(e, b, "name"), Owner: eval.String(e, b, "owner")}
	if eval.IsSet(e, b, "user_password") {
		var given bool
		if q.UserPassword, given = secret(e, b, "user_password"); !given {
			ok = false
		}
	}
	if !ok || !eval.AllKnown(e, b, b.Type.AttributeNames()...) || q.Name == "" || len(server.Addresses) == 0 {
		return nil
	}
	return q
}
