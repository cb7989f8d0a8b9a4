services:
  - name: keystone
    replicas: 3
  - name: mariadb
