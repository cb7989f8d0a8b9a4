// Package realcloud tests that the cloud that kolla applies really answers: real
// OpenStack daemons in real containers, on real nodes, asked through a VIP by a
// client outside of the cluster. `make test-real` runs it.
package realcloud
