// Controller runs the controllers of cert-manager that make certificates: those of issuers, of requests and of
// ACME. The main program of cert-manager is in a module that the module proxy does not have.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/acmechallenges"
	"github.com/cert-manager/cert-manager/pkg/controller/acmeorders"
	acmerequests "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/acme"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/acme"       // registers itself
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"         // registers itself
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned" // registers itself
	"k8s.io/apimachinery/pkg/api/resource"
)

var names = []string{
	issuers.ControllerName, clusterissuers.ControllerName,
	trigger.ControllerName, keymanager.ControllerName, requestmanager.ControllerName, issuing.ControllerName,
	readiness.ControllerName, revisionmanager.ControllerName,
	approver.ControllerName, ca.CRControllerName, selfsigned.CRControllerName, acmerequests.CRControllerName,
	acmeorders.ControllerName, acmechallenges.ControllerName,
}

func main() {
	var o controller.ContextOptions
	flag.StringVar(&o.Kubeconfig, "kubeconfig", os.Getenv("KUBECONFIG"), "`file` with the API server")
	flag.StringVar(&o.ClusterResourceNamespace, "cluster-resource-namespace", "cert-manager", "`namespace` of the Secrets of ClusterIssuers")
	nameservers := flag.String("nameservers", "", "`addresses` of DNS servers for checks of challenges, with commas between them")
	flag.Parse()
	o.HTTP01SolverImage, o.HTTP01SolverNameservers = "acmesolver", strings.FieldsFunc(*nameservers, func(r rune) bool { return r == ',' })
	o.HTTP01SolverResourceRequestCPU, o.HTTP01SolverResourceLimitsCPU = resource.MustParse("10m"), resource.MustParse("100m")
	o.HTTP01SolverResourceRequestMemory, o.HTTP01SolverResourceLimitsMemory = resource.MustParse("64Mi"), resource.MustParse("64Mi")
	o.ACMEHTTP01SolverRunAsNonRoot = true
	o.DNS01CheckRetryPeriod = 10 * time.Second
	o.CertificateRequestMinimumBackoffDuration, o.CertificateRequestMaximumBackoffDuration = time.Hour, 32*time.Hour
	o.MaxConcurrentChallenges = 60
	if err := run(context.Background(), o); err != nil {
		log.Fatal(err)
	}
}

// run runs the controllers until the context ends.
func run(ctx context.Context, o controller.ContextOptions) error {
	factory, err := controller.NewContextFactory(ctx, o)
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	var controllers []controller.Interface
	for _, name := range names {
		made, err := controller.Known()[name](factory)
		if err != nil {
			return err
		}
		controllers = append(controllers, made)
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.HTTP01ResourceMetadataInformersFactory.Start(ctx.Done())
	var running sync.WaitGroup
	for i, c := range controllers {
		running.Go(func() {
			if err := c.Run(1, ctx); err != nil {
				log.Fatalf("%s: %v", names[i], err)
			}
		})
	}
	running.Wait()
	return nil
}
