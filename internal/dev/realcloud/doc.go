// Package realcloud tests a cloud that kolla has applied: real OpenStack daemons in real
// containers, on real nodes. A client outside of the cluster sends its requests through a VIP.
// `make test-real` runs the tests.
package realcloud
