// Package members tests the start scripts of clustered services with real servers, without
// Kubernetes: each member is a container of the definition's StatefulSet in namespaces of its own, on
// a network that the test makes. So a test can cut the power of members, take their volumes, and kill
// them at any moment, many times. `make test-members` runs the tests, as root.
package members
