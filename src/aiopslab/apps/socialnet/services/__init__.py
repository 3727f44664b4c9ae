"""The eleven Thrift services, one module each."""
