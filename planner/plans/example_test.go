package plans_test

import (
	"bytes"
	"fmt"
	"log"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Example reads a saved plan and lists its changes.
func Example() {
	var file bytes.Buffer // the content that plans.Save writes to a disk
	if err := plans.Write(&file, &plans.Plan{
		Format: plans.Format,
		Cloud:  "prod",
		Actions: []plans.Action{
			{
				Address: addrs.Object{Block: "service.memcached", Kind: "StatefulSet", Name: "memcached-server"},
				Verb:    plans.None,
			},
			{
				Address: addrs.Object{Block: "service.keystone", Kind: "Deployment", Name: "keystone-api"},
				Verb:    plans.Update,
				Reasons: []plans.Reason{{Kind: plans.ReasonConfig}},
				Changes: []plans.Change{{Path: "spec.replicas", Before: 2, After: 3}},
			},
		},
	}); err != nil {
		log.Fatal(err)
	}

	plan, err := plans.Read(file.Bytes())
	if err != nil {
		log.Fatal(err)
	}
	for i := range plan.Actions {
		action := &plan.Actions[i]
		if action.Verb == plans.None {
			continue
		}
		fmt.Println(action.Verb, action.Address)
		for _, change := range action.Changes {
			fmt.Printf("  %s: %v -> %v\n", change.Path, change.Before, change.After)
		}
	}
	fmt.Println("to change:", plan.Counts().Change)

	// Output:
	// update service.keystone/Deployment/keystone-api
	//   spec.replicas: 2 -> 3
	// to change: 1
}

// ExampleRead shows that a file of another program is not a plan.
func ExampleRead() {
	_, err := plans.Read([]byte("PK, but no archive"))
	reason, _, _ := strings.Cut(err.Error(), ":")
	fmt.Println(reason)

	// Output:
	// not a kolla plan file, or not all of one
}
