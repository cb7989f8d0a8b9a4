package keystone_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/keystonetest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/keystone"
)

// distant is a Proxy to a server whose answers take as long as those of a Keystone on another machine.
type distant struct{ direct }

func (d distant) Proxy(ctx context.Context, to providers.InternalURL, r providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	time.Sleep(20 * time.Millisecond)
	return d.direct.Proxy(ctx, to, r)
}

// BenchmarkCompare compares the registrations of all services of a cloud, as one plan does: the jobs of
// users and of endpoints of 15 services at the same time. It reports the number of requests.
func BenchmarkCompare(b *testing.B) {
	database := keystonetest.Registered(password)
	var all []*providers.Registration
	for i := range 15 {
		name := fmt.Sprintf("service-%d", i)
		users, endpoints := wanted(), wanted()
		users.Endpoints, users.Users[0].Name = nil, name
		endpoints.Users, endpoints.Roles, endpoints.Endpoints[0].Name = nil, nil, name
		all = append(all, &providers.Registration{Keystone: users}, &providers.Registration{Keystone: endpoints})
		database.Lists["users"] = append(database.Lists["users"], keystonetest.Entry{"id": "u-" + name, "name": name, "domain_id": "default", "enabled": true})
	}
	server := keystonetest.Of(b, database)
	requests := 0
	for b.Loop() {
		r := keystone.New(distant{direct{server.URL}}, values)
		var group sync.WaitGroup
		for _, registration := range all {
			group.Go(func() {
				if _, err := r.Compare(b.Context(), registration); err != nil {
					b.Error(err)
				}
			})
		}
		group.Wait()
		requests += len(server.Requests())
	}
	b.ReportMetric(float64(requests)/float64(b.N), "requests/op")
}
