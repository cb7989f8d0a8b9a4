package smoke

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"

	"kolla.openstack.org/kolla/internal/base/words"
)

// User is a user of Keystone that a service logs in as.
type User struct {
	Service, Name, Domain string
	Password              string
	Job                   string // the address of the job that makes the user
}

// causes looks for faults that several checks may have in common: daemons that have not reported to their service, and
// users of services whose password Keystone refuses. What cannot be read is left out.
func (t *trial) causes(ctx context.Context) (out []string) {
	limited, cancel := t.cloud.limited(ctx)
	defer cancel()
	if t.admin != nil {
		out = t.admin.missing(limited)
	}
	for _, user := range t.cloud.Users(limited) {
		_, err := t.cloud.logIn(limited, gophercloud.AuthOptions{Username: user.Name, DomainName: user.Domain, Password: user.Password})
		if gophercloud.ResponseCodeIs(err, http.StatusUnauthorized) {
			out = append(out, fmt.Sprintf("Keystone refuses the password of user %s, which service %s has. Somebody changed it in Keystone, or the user is disabled. "+
				"To set it again: kolla apply %s", user.Name, user.Service, words.Option("-replace", user.Job)))
		}
	}
	return out
}

// daemon is a daemon that a service knows of.
type daemon struct {
	Binary, Host  string
	State, Status string // of Nova and Cinder: up or down, enabled or disabled
	Kind          string `json:"agent_type"` // of Neutron
	Alive         bool
	Enabled       bool `json:"admin_state_up"`
}

// missing returns the daemons from which a service does not hear.
func (s *session) missing(ctx context.Context) (out []string) {
	for _, of := range []struct{ service, path, name string }{{compute, "os-services", "Nova"}, {network, "agents", "Neutron"}, {volume, "os-services", "Cinder"}} {
		var found struct{ Services, Agents []daemon }
		if s.urls[of.service] == "" || s.call(ctx, http.MethodGet, of.service, of.path, nil, &found) != nil {
			continue
		}
		var silent []string
		for _, d := range slices.Concat(found.Services, found.Agents) {
			if d.State == "down" && d.Status == "enabled" || d.Kind != "" && !d.Alive && d.Enabled {
				silent = append(silent, fmt.Sprintf("%s on %s", d.Binary, d.Host))
			}
		}
		if len(silent) > 0 {
			slices.Sort(silent)
			out = append(out, fmt.Sprintf("%s does not hear from %s. The pod, its node or RabbitMQ may be down.", of.name, strings.Join(slices.Compact(silent), ", ")))
		}
	}
	return out
}
