package pods

import (
	"net"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// madeDatabase evaluates a makes_database block. It returns nil if a value is not known yet, or wrong.
func madeDatabase(e *eval.Env, b *source.Block) *configs.MadeDatabase {
	if waits(e, b) {
		return nil
	}
	server, ok := podServer(e, b)
	d := &configs.MadeDatabase{
		Server: server, Name: eval.String(e, b, "name"), CharacterSet: eval.String(e, b, "character_set"),
		User: eval.String(e, b, "user"), Privileges: slices.Clone(eval.List(e, b, "privileges")),
	}
	if !eval.IsSet(e, b, "privileges") {
		d.Privileges = []string{"ALL PRIVILEGES"}
	}
	for i, privilege := range d.Privileges {
		d.Privileges[i] = strings.ToUpper(privilege)
	}
	if eval.IsSet(e, b, "user_password") {
		var given bool
		if d.UserPassword, given = secret(e, b, "user_password"); !given {
			ok = false
		}
	}
	for _, name := range []string{"user_password", "privileges"} {
		if eval.IsSet(e, b, name) && !eval.IsSet(e, b, "user") {
			eval.Unsuitable(e, b, name, "It is one of a user, and the block has no argument user.")
			ok = false
		}
	}
	if !ok || !eval.AllKnown(e, b, b.Type.AttributeNames()...) || d.Name == "" || len(server.Addresses) == 0 {
		return nil
	}
	return d
}

// waits reports whether an argument of a block waits for data.
func waits(e *eval.Env, b *source.Block) bool {
	return slices.ContainsFunc(b.Type.AttributeNames(), func(name string) bool { return len(eval.Awaited(e, b, name)) > 0 })
}

// podServer evaluates the attributes that say how to log in to a server. ok is false if one of them
// is not known yet, or wrong.
func podServer(e *eval.Env, b *source.Block) (s configs.PodServer, ok bool) {
	s = configs.PodServer{Addresses: eval.List(e, b, "addresses"), Username: eval.String(e, b, "username")}
	password, ok := secret(e, b, "password")
	if ok {
		s.Password = *password
	}
	for i, address := range s.Addresses {
		if !isPodPort(address) {
			eval.Unsuitable(e, b, "addresses", "Element %d, %q, is no address of a pod of a StatefulSet: POD.SERVICE.NAMESPACE:PORT, such as \"${self.members.server[0]}:${port.mysql}\".", i, address)
			ok = false
		}
	}
	return s, ok && s.Username != ""
}

// isPodPort reports whether a text has the form POD.SERVICE.NAMESPACE:PORT, perhaps with more labels
// before the port.
func isPodPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	labels := strings.Split(host, ".")
	_, wrong := strconv.ParseUint(port, 10, 16)
	return err == nil && wrong == nil && len(labels) >= 3
}
